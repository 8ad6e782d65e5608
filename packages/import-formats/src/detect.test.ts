import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, test } from "@jest/globals";
import { fixturesFolder } from "./collect.fixture.ts";
import { detect, detectDatabase } from "./detect.ts";
import { fixtureTree } from "./disk-tree.fixture.ts";
import type { FileTree } from "./file-tree.ts";
import { withDatabase } from "./sqlite.fixture.ts";

const fixtures: [string, string][] = [
  ["tensorboard-2.21.0", "tensorboard"],
  ["wandb-0.31.0", "wandb"],
  ["wandb-0.15.12", "wandb"],
  ["mlflow-2.22.0", "mlflow-folder"],
  ["mlflow-3.17.2", "mlflow-folder"],
  ["dvclive-3.49.1", "dvclive"],
  ["neptune-exporter", "neptune"],
];

test.each(fixtures)("%s is found to be %s", async (fixture, format) => {
  expect(await detect(fixtureTree(fixture))).toMatchObject({ format });
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

test.each([
  ["mlflow-3.17.2-database/data/mlflow.db.gz", "mlflow"],
  ["trackio-0.43.0/data/nets-ü.db.gz", "trackio"],
])("whose a database is: %s", async (path, owner) => {
  const bytes = gunzipSync(readFileSync(join(fixturesFolder, path)));
  expect(await withDatabase(bytes, (query) => Promise.resolve(detectDatabase(query)))).toBe(owner);
});

test("a database of something else is nobody's", async () => {
  expect(await withDatabase(Buffer.alloc(0), (query) => Promise.resolve(detectDatabase(query)))).toBeUndefined();
});
