import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { isTestFile } from "./imports/edges.ts";

const root = dirname(import.meta.dirname);

/** A walk of ARCHITECTURE.md: the files that a change touches, and the name of its example, if one name is enough to find these. */
type Walk = { readonly title: string; readonly example: string | undefined; readonly files: readonly string[] };

const [, section = ""] = readFileSync(join(root, "ARCHITECTURE.md"), "utf8").split("\n## Walks\n");
const walks = section.split("\n### ").slice(1).map(readWalk);

function readWalk(text: string): Walk {
  const [title = ""] = text.split("\n");
  const files = [...text.matchAll(/^\d+\. `([^`]+)`/gm)].map(([, file = ""]) => file);
  return { title, example: /`(.+)`/.exec(title)?.[1], files };
}

/** The sources that people write, without tests and without dialects, which call what routes of the product call; relative to the repository. */
const sources = globSync("{cli,gateway,infra,packages,proto,scripts,services,web}/**/*.{ts,tsx,proto,py}", {
  cwd: root,
  exclude: (path) => /(?:^|[\\/])(?:node_modules|gen|dialects)$/.test(path),
})
  .map((path) => path.split(sep).join("/"))
  .filter((path) => !isTestFile(path));

describe.each(walks)("$title", ({ example, files }) => {
  test("names files that exist, each once", () => {
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
    expect(new Set(files).size).toBe(files.length);
  });

  test("names every source that has the example", () => {
    if (example === undefined) return;
    const name = example.toLowerCase();
    const having = sources.filter((path) => readFileSync(join(root, path), "utf8").toLowerCase().includes(name));
    expect(having.length).toBeGreaterThan(2);
    expect(having.filter((path) => !isNamed(path, files))).toEqual([]);
  });
});

/** Whether a walk has a file: by its name, or with all files of the service of a `module.ts`. */
function isNamed(path: string, files: readonly string[]): boolean {
  const ownFolders = files.filter((file) => file.endsWith("/module.ts")).map((file) => `${dirname(file)}/`);
  return files.includes(path) || ownFolders.some((folder) => path.startsWith(folder));
}

test("no walk grows unnoticed", () => {
  expect(walks.map(({ files }) => files.length)).toEqual([9, 7, 7, 12]);
});

test("every service has the files of the walk of a service", () => {
  const ofService = walks.at(-1)!.files.filter((file) => file.startsWith("services/reports/"));
  const services = globSync("services/*/src/module.ts", { cwd: root }).map((path) => dirname(dirname(path)));
  expect(services.length).toBeGreaterThan(7);
  const wanted = services.flatMap((folder) => ofService.map((file) => file.replace("services/reports", folder)));
  expect(wanted.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});

test("the section is short", () => {
  expect(section.split(/\s+/).length).toBeLessThanOrEqual(500);
});
