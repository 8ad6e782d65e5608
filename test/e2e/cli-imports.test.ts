import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { startStack, type OwnStack } from "../stack/stack.ts";
import { contentOf, linesOf, ofKind } from "./archive.fixture.ts";
import { fixtures, newFolder, startTidemark } from "./cli.fixture.ts";

let stack: OwnStack;
beforeAll(async () => {
  stack = await startStack("embedded");
});
afterAll(() => stack.stop());

/** Databases are kept compressed. */
function unpacked(path: string): string {
  if (!path.endsWith(".gz")) return path;
  const plain = join(newFolder(), basename(path, ".gz"));
  writeFileSync(plain, gunzipSync(readFileSync(path)));
  return plain;
}

const tidemark = (key: string, ...args: string[]) =>
  startTidemark({ baseUrl: stack.baseUrl, key, state: newFolder() }, args).ended;

test.each([
  "wandb-0.31.0/data",
  "tensorboard-2.21.0/data",
  "dvclive-3.49.1/data",
  "mlflow-3.17.2/data/mlruns",
  "mlflow-3.17.2-database/data/mlflow.db.gz",
  "neptune-exporter/data",
  "trackio-0.43.0/data/nets-ü.db.gz",
])("imports %s, and nothing of it twice", async (path) => {
  const { api, key } = await stack.organization();
  const from = unpacked(join(fixtures, path));
  const read = await tidemark(key, "import", from, "--project", "brought", "--dry-run");
  expect(read).toMatchObject({ code: 0 });
  const [, runs, points] = /: (\d+) runs, (\d+) points/.exec(read.stdout)!.map(Number);
  expect(await tidemark(key, "import", from, "--project", "brought")).toMatchObject({ code: 0 });
  const text = async () => (await api.get("/api/export?format=ndjson&project=brought")).text;
  const first = contentOf(await text());
  const { counts } = ofKind(linesOf({ text: await text() }), "end")[0]!;
  expect([counts.run, counts.points]).toEqual([runs, points]);
  const again = await tidemark(key, "import", from, "--project", "brought");
  expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining("there already") });
  expect(contentOf(await text())).toEqual(first);
});
