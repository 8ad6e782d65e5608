import fc from "fast-check";
import { describe, expect, test } from "@jest/globals";
import { readStatistics, statisticsOf, groupBuckets, sharedBuckets } from "./statistics.rules.ts";

/** Whole numbers, so that the reference computes with exact integers up to the last step. */
const wholes = fc.array(fc.integer({ min: -1000, max: 1000 }), { minLength: 1, maxLength: 60 });

/** The root of (n Σx² - (Σx)²) / n², as in textbooks. */
function deviation(values: readonly number[]): number {
  const n = BigInt(values.length);
  const exact = values.map(BigInt);
  const sum = exact.reduce((total, value) => total + value, 0n);
  const squares = exact.reduce((total, value) => total + value * value, 0n);
  return Math.sqrt(Number(n * squares - sum * sum)) / values.length;
}

/** The quantile of this many hundredths: the broken line through the points ((k - 1) / (n - 1), value k), in hundredths of the places. */
function quantile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const hundredths = (sorted.length - 1) * percent;
  const below = (hundredths - (hundredths % 100)) / 100;
  const above = sorted[Math.min(below + 1, sorted.length - 1)]!;
  return (sorted[below]! * (100 - (hundredths % 100)) + above * (hundredths % 100)) / 100;
}

const of = (values: readonly number[], ...names: string[]) =>
  statisticsOf(Float64Array.from(values), readStatistics(names));

test("statistics are those of the definitions", () => {
  fc.assert(
    fc.property(wholes, fc.integer({ min: 0, max: 100 }), (values, percent) => {
      const [mean, std, min, max, count, part] = of(values, "mean", "std", "min", "max", "count", `p${percent}`);
      expect(mean).toBeCloseTo(values.reduce((sum, value) => sum + value, 0) / values.length, 9);
      expect(std).toBeCloseTo(deviation(values), 9);
      expect([min, max, count]).toEqual([Math.min(...values), Math.max(...values), values.length]);
      expect(part).toBeCloseTo(quantile(values, percent), 9);
    }),
  );
});

describe("statistics", () => {
  test.each<[string, number[], string[], number[]]>([
    ["of one value", [3], ["mean", "std", "min", "max", "count", "p0", "p100"], [3, 0, 3, 3, 1, 3, 3]],
    ["of no values", [], ["mean", "std", "min", "max", "count", "p50"], [NaN, NaN, NaN, NaN, 0, NaN]],
    ["in the order of the request", [1, 3], ["max", "mean"], [3, 2]],
    ["of quantiles between two values", [4, 1, 2, 10], ["p25", "p50", "p95", "p12.5"], [1.75, 3, 9.1, 1.375]],
    ["of equal values that no sum holds exactly", [0.1, 0.1, 0.1], ["mean", "std", "p33"], [0.1, 0, 0.1]],
    ["of the largest numbers", [Number.MAX_VALUE, -Number.MAX_VALUE], ["mean", "std", "p50"], [0, Number.MAX_VALUE, 0]],
  ])("%s", (_what, values, names, expected) => {
    const found = of(values, ...names);
    const round = (numbers: readonly number[]) => numbers.map((number) => Number(number.toPrecision(12)));
    expect(round(found)).toEqual(round(expected));
  });

  test("far from 0 keep their digits", () => {
    expect(of([1e9 + 1, 1e9 + 2, 1e9 + 3], "std")[0]).toBeCloseTo(Math.sqrt(2 / 3), 9);
  });

  test("leave the values in their order", () => {
    const values = Float64Array.of(3, 1, 2);
    statisticsOf(values, readStatistics(["p50"]));
    expect([...values]).toEqual([3, 1, 2]);
  });
});

test.each([
  ["none", []],
  ["more than 10", Array.from({ length: 11 }, (_, i) => `p${i}`)],
  ["one twice", ["mean", "mean"]],
  ["an unknown one", ["median"]],
  ["a quantile above 100", ["p100.1"]],
  ["a quantile without a number", ["p"]],
  ["a quantile with four digits behind the point", ["p1.2345"]],
])("%s is refused", (_what, names) => {
  expect(() => readStatistics(names)).toThrow(expect.objectContaining({ reason: "bad_request", field: "stats" }));
});

/** A run as a list of its buckets, with their means. */
const anyRun = fc.dictionary(fc.nat(12).map(String), fc.integer({ min: -9, max: 9 }), { maxKeys: 8 });

test("a bucket has the means of the runs with points in it, in the order of the runs", () => {
  fc.assert(
    fc.property(fc.array(anyRun, { maxLength: 6 }), (runs) => {
      const columns = runs.map((run) => {
        const entries = Object.entries(run).map(([step, mean]) => [Number(step), mean] as const);
        entries.sort(([a], [b]) => a - b);
        const at = Float64Array.from(entries, ([step]) => step);
        return {
          at,
          step: at.map((step) => step * 2),
          mean: Float64Array.from(entries, ([, mean]) => mean),
        };
      });
      const expected = Array.from({ length: 13 }, (_, step) => ({
        at: step,
        step: step * 2,
        means: runs.flatMap((run) => run[step] ?? []),
      })).filter(({ means }) => means.length > 0);
      const found = Array.from(sharedBuckets(columns), ({ at, step, means }) => ({ at, step, means: [...means] }));
      expect(found).toEqual(expected);
    }),
  );
});

test.each<[string, Parameters<typeof groupBuckets>, number]>([
  ["as asked", [500, 2, 10, 1], 500],
  ["120,000 over groups and keys", [4096, 200, 200, 1], 600],
  ["120,000 over groups and 50 keys", [4096, 200, 200, 50], 12],
  ["600,000 over runs and keys", [4096, 1, 1000, 1], 600],
  ["600,000 over runs and 50 keys", [4096, 1, 1000, 50], 12],
])("buckets are %s", (_what, asked, expected) => {
  expect(groupBuckets(...asked)).toBe(expected);
});
