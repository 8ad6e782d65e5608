import { expect, test } from "@jest/globals";
import { collect, expectedPoints, readExpected, type Collected, type CollectedRun } from "../collect.fixture.ts";
import { fixtureTree } from "../disk-tree.fixture.ts";
import { eventFiles, lossAt, startAt } from "./event-file.fixture.ts";
import { readTensorboard } from "./read-tensorboard.ts";

type ExpectedRun = Pick<CollectedRun, "points" | "texts" | "histograms" | "images"> & {
  readonly config: Record<string, unknown>;
  readonly status: string;
};

const fixture = "tensorboard-2.21.0";
const expected = readExpected<ExpectedRun>(fixture).runs;
const read = (): Promise<Collected> => collect(readTensorboard(fixtureTree(fixture)));

/** TensorBoard turns edges of some histograms into floats. */
function rounded(histograms: CollectedRun["histograms"]): CollectedRun["histograms"] {
  const entries = Object.entries(histograms).map(([key, rows]) => [
    key,
    rows.map(([step, bins, counts]) => [step, bins.map(Math.fround), counts]),
  ]);
  return Object.fromEntries(entries) as CollectedRun["histograms"];
}

test("the runs are those that TensorBoard shows", async () => {
  expect(Object.keys((await read()).runs).toSorted()).toEqual(Object.keys(expected).toSorted());
});

test.each(Object.keys(expected))("run %s has what TensorBoard reads, point by point", async (id) => {
  const { runs } = await read();
  const { points, texts, histograms, images, config, status } = expected[id]!;
  const run = runs[id]!;
  expect(run.points).toEqual(expectedPoints(points));
  expect(run.texts).toEqual(texts);
  expect(rounded(run.histograms)).toEqual(rounded(histograms));
  expect(run.images).toEqual(images);
  expect(run.fields.config ?? {}).toEqual(config);
  expect(run.fields.status).toBe(status);
});

test("omitted data is counted", async () => {
  const { warnings } = await read();
  expect(warnings["."]).toEqual({ unsupported: 1 });
  expect(warnings["restarted"]).toEqual({ purged: 7 });
  expect(warnings["torn"]).toEqual({ torn_tail: 1 });
});

test("a run has its start, its end and its group", async () => {
  const { startedAt, finishedAt, name, source, metadata } = (await read()).runs["."]!.fields;
  expect({ startedAt, finishedAt, name, source }).toEqual({
    startedAt: 1_794_999_999_125,
    finishedAt: 1_795_000_900_125,
    name: ".",
    source: "tensorboard",
  });
  expect(metadata).toEqual({ group: expect.any(String) });
});

const steps = (first: number, last: number, value: number): Buffer[] =>
  Array.from({ length: last - first + 1 }, (_, i) => lossAt(BigInt(first + i), value));

test.each<[string, Buffer[][], [step: number, value: number][]]>([
  [
    "the first start, in the second file",
    [steps(0, 3, 1), [startAt(2n), ...steps(2, 2, 2)]],
    [
      [0, 1],
      [1, 1],
      [2, 2],
    ],
  ],
  [
    "the first start, in the third file",
    [steps(0, 1, 1), steps(2, 3, 1), [startAt(1n), ...steps(1, 1, 2)]],
    [
      [0, 1],
      [1, 2],
    ],
  ],
  ["a start at step 0, in a later file", [steps(0, 3, 1), [startAt(0n), ...steps(0, 0, 2)]], [[0, 2]]],
  [
    "the second start, in the same file",
    [[startAt(0n), ...steps(0, 2, 1), startAt(1n), ...steps(1, 1, 2)]],
    [
      [0, 1],
      [1, 2],
    ],
  ],
  [
    "each of several starts",
    [steps(0, 5, 1), [startAt(4n), ...steps(4, 5, 2)], [startAt(2n), ...steps(2, 2, 3)]],
    [
      [0, 1],
      [1, 1],
      [2, 3],
    ],
  ],
])("%s takes back the earlier events of all files from its step on", async (_what, files, points) => {
  const { runs, warnings } = await collect(readTensorboard(eventFiles(...files)));
  expect(runs["."]!.points["loss"]!.map(([step, value]) => [step, value])).toEqual(points);
  expect(warnings["."]).toEqual({ purged: files.flat().length - points.length - files.flat().filter(isStart).length });
});

function isStart(record: Buffer): boolean {
  return !record.includes("loss");
}

test("the first start of the first file takes back nothing: TensorFlow 1 may have written events before it", async () => {
  const files = eventFiles([...steps(0, 2, 1), startAt(0n), ...steps(3, 3, 1)]);
  const { runs, warnings } = await collect(readTensorboard(files));
  expect(runs["."]!.points["loss"]!.map(([step]) => step)).toEqual([0, 1, 2, 3]);
  expect(warnings).toEqual({});
});

test("a step that no double holds becomes the nearest one, and is counted", async () => {
  const { runs, warnings } = await collect(
    readTensorboard(eventFiles([lossAt(2n ** 53n + 1n, 1), lossAt(2n ** 53n, 2)])),
  );
  expect(runs["."]!.points["loss"]!.map(([step, value]) => [step, value])).toEqual([
    [2 ** 53, 1],
    [2 ** 53, 2],
  ]);
  expect(warnings).toEqual({ ".": { rounded_integer: 1 } });
});
