import { expect, test } from "@jest/globals";
import { collect, finitePoints, readExpected, type Collected, type CollectedRun } from "../collect.fixture.ts";
import { fixtureTree } from "../disk-tree.fixture.ts";
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
  const { runs, warnings } = await read();
  const { points, texts, histograms, images, config, status } = expected[id]!;
  const { finite, others } = finitePoints(points);
  const run = runs[id]!;
  expect(run.points).toEqual(finite);
  expect(warnings[id]?.non_finite_value ?? 0).toBe(others);
  expect(run.texts).toEqual(texts);
  expect(rounded(run.histograms)).toEqual(rounded(histograms));
  expect(run.images).toEqual(images);
  expect(run.fields.config ?? {}).toEqual(config);
  expect(run.fields.status).toBe(status);
});

test("what is left out is counted", async () => {
  const { warnings } = await read();
  expect(warnings["."]).toEqual({ non_finite_value: 2, unsupported: 1 });
  expect(warnings["restarted"]).toEqual({ purged: 5 });
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
