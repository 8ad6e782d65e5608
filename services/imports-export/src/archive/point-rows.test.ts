import { expect, test } from "@jest/globals";
import { joinRows, pointRows } from "./points.rules.ts";

const runId = "11111111-2222-4333-8444-555555555555";
const columns = {
  runId,
  keys: ["a", "b"],
  steps: Float64Array.of(0, 1, 2),
  createdUs: Float64Array.of(10, 11, 12),
  timestampsUs: Float64Array.of(Number.NaN, 5, Number.NaN),
  series: [
    { values: Float64Array.of(-0, 0.5, Number.NaN), points: undefined },
    { values: Float64Array.of(7, 8), points: Uint32Array.of(0, 2) },
  ],
};

test("every value of every key becomes a row, in parts of at most the size requested", () => {
  const parts = [...pointRows(columns, "r", 2)];
  expect(parts.map(({ values }) => values.length)).toEqual([2, 1, 2]);
  expect(joinRows(parts)).toEqual({
    runIds: Array.from({ length: 5 }, () => runId),
    runNames: Array.from({ length: 5 }, () => "r"),
    keys: ["a", "a", "a", "b", "b"],
    steps: Float64Array.of(0, 1, 2, 0, 2),
    values: Float64Array.of(-0, 0.5, Number.NaN, 7, 8),
    timestampsUs: [null, 5n, null, null, null],
    createdUs: [10n, 11n, 12n, 10n, 12n],
  });
});

test("without any times of the client all are null", () => {
  const [rows] = pointRows({ ...columns, timestampsUs: undefined }, "r", 10);
  expect(rows!.timestampsUs).toEqual([null, null, null]);
});
