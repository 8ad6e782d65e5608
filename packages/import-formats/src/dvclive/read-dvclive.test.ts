import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import fc from "fast-check";
import {
  collect,
  expectedPoints,
  fixturesFolder,
  readExpected,
  type Collected,
  type CollectedRun,
} from "../collect.fixture.ts";
import { expectSurvival } from "../damage.fixture.ts";
import { fixtureTree } from "../disk-tree.fixture.ts";
import { readDvclive } from "./read-dvclive.ts";

type ExpectedRun = Pick<CollectedRun, "points" | "texts"> & {
  readonly config: Record<string, unknown>;
  readonly latest: Record<string, unknown>;
};

const fixture = "dvclive-3.49.1";
const expected = readExpected<ExpectedRun>(fixture).runs;
const read = (instead: Record<string, Uint8Array> = {}): Promise<Collected> =>
  collect(readDvclive(fixtureTree(fixture, instead)));

test("the runs are the folders of DVCLive", async () => {
  expect(Object.keys((await read()).runs)).toEqual(["deeper/second", "first"]);
});

test.each(Object.keys(expected))("run %s has what DVCLive reads, point by point", async (id) => {
  const { runs } = await read();
  const { points, texts, config, latest } = expected[id]!;
  expect(runs[id]!.points).toEqual(expectedPoints(points));
  expect(runs[id]!.texts).toEqual(texts);
  expect(runs[id]!.fields.config).toEqual(config);
  expect(runs[id]!.fields.metadata?.["summary"] ?? {}).toEqual(latest);
  expect(runs[id]!.fields).toMatchObject({ source: "dvclive", status: "finished" });
});

test("images have their step, and other files are files", async () => {
  const { images, files } = (await read()).runs["first"]!;
  expect(images).toEqual({
    "image.png": [[null, "first/plots/images/image.png"]],
    series: [[7, "first/plots/images/series/7.png"]],
  });
  expect(files).toEqual({ "plots/custom/curve.json": { size: 47, path: "first/plots/custom/curve.json" } });
});

test("a damaged metric gives the lines before the damage", async () => {
  const file = "first/plots/metrics/train/loss.tsv";
  const bytes = readFileSync(join(fixturesFolder, fixture, "data", file));
  const ends = [...bytes.entries()].flatMap(([at, byte]) => (byte === 0x0a ? [at + 1] : []));
  const readDamaged = (changed: Uint8Array) => readDvclive(fixtureTree(fixture, { [file]: changed }));
  await expectSurvival({ bytes, read: readDamaged, ends, runs: 100 });
});

test("damaged documents are counted, and the points stay", async () => {
  const whole = (await read()).runs["first"]!.points;
  const documents = ["first/params.yaml", "first/metrics.json"];
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...documents), fc.uint8Array({ maxLength: 40 }), async (file, bytes) => {
      expect((await read({ [file]: bytes })).runs["first"]!.points).toEqual(whole);
    }),
    { numRuns: 50 },
  );
  const { warnings } = await read({ "first/params.yaml": Buffer.from("a: [") });
  expect(warnings["first"]).toMatchObject({ damaged: 1 });
});

test("integers of a config keep their digits, and those of points become the nearest doubles", async () => {
  const { runs, warnings } = await read({
    "first/params.yaml": Buffer.from(
      "seed: 9007199254740993\nhex: 0x7fffffffffffffff\nlist: [-9007199254740993, 1, 1.5]\nnone: null\n",
    ),
    "first/metrics.json": Buffer.from('{"count": 9007199254740993}'),
    "first/plots/metrics/train/loss.tsv": Buffer.from("step\tloss\n9007199254740993\t1\n2\t9007199254740993\n"),
  });
  const { config, metadata } = runs["first"]!.fields;
  expect(JSON.stringify(config)).toBe(
    '{"seed":9007199254740993,"hex":9223372036854775807,"list":[-9007199254740993,1,1.5],"none":null}',
  );
  expect(JSON.stringify(metadata)).toContain('"count":9007199254740993');
  expect(runs["first"]!.points["train/loss"]).toEqual([
    [2 ** 53, 1, null],
    [2, 2 ** 53, null],
  ]);
  expect(warnings["first"]?.rounded_integer).toBe(2);
});
