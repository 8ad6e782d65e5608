import { describe, expect, test } from "@jest/globals";
import { loadModules, moduleList } from "./module-list.ts";
import { allModules } from "./modules.ts";

test.each(moduleList)("$name is listed as it is", async ({ name, config, hasDatabase, load }) => {
  const module = await load();
  expect([module.name, module.schema !== undefined]).toEqual([name, hasDatabase]);
  expect(module.config).toBe(config);
});

describe("the modules of a target", () => {
  test("are all, peers before those that need them", async () => {
    expect(await loadModules("all")).toEqual(allModules);
    const names = allModules.map(({ name }) => name);
    for (const { name, needs } of allModules) {
      const before = names.slice(0, names.indexOf(name));
      for (const { module } of needs) expect([name, module, before.includes(module)]).toEqual([name, module, true]);
    }
  });

  test("are those that it names", async () => {
    expect((await loadModules("runs, control")).map(({ name }) => name)).toEqual(["runs", "control"]);
  });

  test("that it names wrongly are answered with those that exist", async () => {
    await expect(loadModules("runs,web")).rejects.toThrow("there is no module web; there are usage, runs, control,");
  });
});
