import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, test } from "@jest/globals";
import { fixturesFolder } from "./collect.fixture.ts";
import { detect, detectDatabase, formats } from "./formats.ts";
import { fixtureTree } from "./disk-tree.fixture.ts";
import type { FileTree } from "./file-tree.ts";
import { withDatabase } from "./sqlite.fixture.ts";

/** Fixtures are called by their tracker and its version. */
const fixtures = readdirSync(fixturesFolder).map((fixture) => {
  const file = readdirSync(join(fixturesFolder, fixture, "data")).find((name) => name.endsWith(".db.gz"));
  return { fixture, kind: fixture.split("-")[0]!, file };
});
const databases = fixtures.flatMap(({ file, ...known }) => (file === undefined ? [] : [{ ...known, file }]));
const folders = fixtures.filter(({ fixture, file }) => file === undefined && !fixture.endsWith("-server"));

test.each(folders)("$fixture is found to be of $kind", async ({ fixture, kind }) => {
  expect(await detect(fixtureTree(fixture))).toMatchObject({ format: { kind } });
});

test("every format has a fixture, and is named in the guide", () => {
  const guide = readFileSync(join(import.meta.dirname, "../../../docs/guide/import.md"), "utf8");
  for (const { kind, title } of formats) {
    expect(fixtures.map((fixture) => fixture.kind)).toContain(kind);
    expect(guide).toContain(title);
  }
});

function treeOf(...names: string[]): FileTree {
  return {
    list: (folder) => Promise.resolve(folder === "" ? names.map((name) => ({ name, isFolder: false, size: 1 })) : []),
    read: () => {
      throw new Error("nothing is read");
    },
  };
}

test("a database is found by its name, and other files are nothing", async () => {
  expect(await detect(treeOf("a.txt", "mlflow.db"))).toEqual({ format: "sqlite", shownBy: "mlflow.db" });
  expect(await detect(treeOf("a.txt", "metrics.json"))).toBeUndefined();
  expect(await detect(treeOf())).toBeUndefined();
});

test.each(databases)("whose a database is: $fixture", async ({ fixture, kind, file }) => {
  const bytes = gunzipSync(readFileSync(join(fixturesFolder, fixture, "data", file)));
  const found = await withDatabase(bytes, (query) => Promise.resolve(detectDatabase(query)));
  expect(found?.kind).toBe(kind);
});

test("a database of another program belongs to no format", async () => {
  expect(await withDatabase(Buffer.alloc(0), (query) => Promise.resolve(detectDatabase(query)))).toBeUndefined();
});
