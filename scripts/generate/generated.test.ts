import { mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { generatedFile, generatedFiles, generatedFolder, readTree, writeTree } from "./generated.ts";

let root = "";
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "tidemark-generated-"));
});
afterEach(() => rm(root, { recursive: true, force: true }));

describe("a generated folder", () => {
  const wanted = new Map([
    ["a.js", "a"],
    ["v1/b.js", "b"],
  ]);
  const output = () => generatedFolder(root, "gen", () => Promise.resolve(wanted));

  test("is missing whole before it was ever written, and is right afterwards", async () => {
    expect(await output().check()).toEqual(["missing: gen/a.js", "missing: gen/v1/b.js"]);
    expect(await output().write()).toEqual(["missing: gen/a.js", "missing: gen/v1/b.js"]);
    expect(await output().check()).toEqual([]);
    expect(await readTree(join(root, "gen"))).toEqual(wanted);
  });

  test("is out of date when a file was edited, lost or added by hand, and checking repairs nothing", async () => {
    await writeTree(
      join(root, "gen"),
      new Map([
        ["a.js", "edited"],
        ["v1/stray.js", ""],
      ]),
    );
    const faults = ["missing: gen/v1/b.js", "out of date: gen/a.js", "no longer generated: gen/v1/stray.js"];
    expect(await output().check()).toEqual(faults);
    expect(await output().check()).toEqual(faults);
    await output().write();
    expect(await readTree(join(root, "gen"))).toEqual(wanted);
  });

  test("keeps files that are right already untouched", async () => {
    await output().write();
    const before = await stat(join(root, "gen/a.js"));
    await writeFile(join(root, "gen/v1/b.js"), "edited");
    await output().write();
    expect((await stat(join(root, "gen/a.js"))).mtimeMs).toBe(before.mtimeMs);
  });
});

describe("a generated file", () => {
  test("is written where it is missing", async () => {
    const output = generatedFile(root, "config.md", () => "text");
    expect(await output.check()).toEqual(["missing: config.md"]);
    expect(await output.write()).toEqual(["missing: config.md"]);
    expect(await output.write()).toEqual([]);
  });

  test("may keep the part that a person wrote", async () => {
    await mkdir(root, { recursive: true });
    await writeFile(join(root, "page.md"), "by hand");
    const output = generatedFile(root, "page.md", (current) => `${current?.split("|")[0] ?? ""}|drawn`);
    expect(await output.check()).toEqual(["out of date: page.md"]);
    await output.write();
    expect(await readTree(root)).toEqual(new Map([["page.md", "by hand|drawn"]]));
    expect(await output.check()).toEqual([]);
  });
});

test("generated files are compared one by one, and other files next to them stay", async () => {
  await writeTree(
    root,
    new Map([
      ["a/schema.sql", "old"],
      ["a/by-hand.sql", "kept"],
    ]),
  );
  const wanted = new Map([
    ["a/schema.sql", "new"],
    ["b/schema.sql", "more"],
  ]);
  const output = generatedFiles(root, "schema.sql", () => Promise.resolve(wanted));
  const faults = ["out of date: a/schema.sql", "missing: b/schema.sql"];
  expect(await output.check()).toEqual(faults);
  await mkdir(join(root, "b"));
  expect(await output.write()).toEqual(faults);
  expect(await output.check()).toEqual([]);
  expect(await readTree(root)).toEqual(new Map([...wanted, ["a/by-hand.sql", "kept"]]));
});
