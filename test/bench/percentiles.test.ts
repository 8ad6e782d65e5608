import { expect, test } from "@jest/globals";
import { percentile, percentilesOf, spreadOf } from "./percentiles.ts";

const to100 = Array.from({ length: 100 }, (_, index) => index);

test.each([
  ["half", 0.5, 50],
  ["95 %", 0.95, 95],
  ["nothing", 0, 0],
  ["all", 1, 99],
])("%s of the numbers 0 to 99", (_what, share, value) => {
  expect(percentile(to100, share)).toBe(value);
});

test("latencies need not be sorted", () => {
  expect(percentilesOf(to100.toReversed())).toEqual({ p50: 50, p95: 95, p99: 99 });
});

test("no numbers have no percentile", () => {
  expect(percentilesOf([])).toEqual({ p50: Number.NaN, p95: Number.NaN, p99: Number.NaN });
  expect(spreadOf([])).toEqual({ median: Number.NaN, min: Number.NaN, max: Number.NaN });
});

test.each([
  ["one", [7], { median: 7, min: 7, max: 7 }],
  ["three", [9, 1, 4], { median: 4, min: 1, max: 9 }],
  ["four", [9, 1, 4, 5], { median: 4.5, min: 1, max: 9 }],
])("median and range of %s", (_what, values, spread) => {
  expect(spreadOf(values)).toEqual(spread);
});
