import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { dependencyStamp, manifests, workspacePatterns } from "./install-dependencies.mjs";

let root = "";

const write = async (path: string, text: string): Promise<void> => {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
};

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "stamp-"));
  await write("pnpm-workspace.yaml", "packages:\n  - one\n  - many/*\n");
  await write("pnpm-lock.yaml", "lockfileVersion: '9.0'\n");
  for (const folder of ["", "one/", "many/a/", "many/b/", "other/"]) await write(`${folder}package.json`, "{}");
});

afterEach(() => rm(root, { recursive: true }));

test("the manifests are those of the workspace, in one order", () => {
  expect(manifests(root)).toEqual(["many/a/package.json", "many/b/package.json", "one/package.json", "package.json"]);
});

test("the same tree has the same stamp", () => {
  expect(dependencyStamp(root, "24.21.0")).toBe(dependencyStamp(root, "24.21.0"));
});

test.each([
  ["the lock file changes", () => write("pnpm-lock.yaml", "lockfileVersion: '9.1'\n")],
  ["a manifest changes", () => write("many/a/package.json", '{"a":1}')],
  ["a package is added", () => write("many/c/package.json", "{}")],
  [
    "a package is moved",
    () => rm(join(root, "many/b"), { recursive: true }).then(() => write("many/c/package.json", "{}")),
  ],
  ["the workspace file changes", () => write("pnpm-workspace.yaml", "packages:\n  - one\n  - many/*\n# more\n")],
])("the stamp changes when %s", async (_name, change) => {
  const before = dependencyStamp(root, "24.21.0");
  await change();
  expect(dependencyStamp(root, "24.21.0")).not.toBe(before);
});

test("the stamp changes with Node, and not with a package outside the workspace", async () => {
  const before = dependencyStamp(root, "24.21.0");
  expect(dependencyStamp(root, "24.22.0")).not.toBe(before);
  await write("other/package.json", '{"a":1}');
  expect(dependencyStamp(root, "24.21.0")).toBe(before);
});

test.each([
  ["a list that ends with the file", "packages:\n  - a\n  - b/*", ["a", "b/*"]],
  ["a list before other keys", "packages:\n  - a\n\ncatalog:\n  x: 1\n", ["a"]],
  ["quoted patterns and comments", "packages:\n  # all\n  - \"a/*\"\n  - 'b'\n", ["a/*", "b"]],
  ["a list after other keys", "catalog:\n  x: 1\npackages:\n- a\n  - b\n", []],
])("reads %s", (_name, yaml, expected) => {
  expect(workspacePatterns(yaml)).toEqual(expected);
});

test("refuses a pattern that it would not follow", () => {
  expect(() => workspacePatterns("packages:\n  - a/**\n")).toThrow("a/**");
});

test("understands this very workspace", () => {
  const here = join(dirname(fileURLToPath(import.meta.url)), "../..");
  expect(manifests(here)).toContain("infra/local/package.json");
});
