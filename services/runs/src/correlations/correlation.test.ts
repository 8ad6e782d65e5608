import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { correlate } from "./correlation.rules.ts";

/** The coefficient as textbooks define it, with exact integer arithmetic: for integers, up to the last division. */
function reference(x: readonly number[], y: readonly number[]): number | undefined {
  const n = BigInt(x.length);
  const sum = (values: readonly bigint[]) => values.reduce((total, value) => total + value, 0n);
  const [a, b] = [x.map(BigInt), y.map(BigInt)];
  const cross = n * sum(a.map((value, i) => value * b[i]!)) - sum(a) * sum(b);
  const spread = (values: readonly bigint[]) => n * sum(values.map((value) => value * value)) - sum(values) ** 2n;
  const [left, right] = [spread(a), spread(b)];
  return left === 0n || right === 0n ? undefined : Number(cross) / Math.sqrt(Number(left)) / Math.sqrt(Number(right));
}

/** Twice the mean rank of each value: computed from how many are smaller, and how many are equal. */
function doubleRanks(values: readonly number[]): number[] {
  return values.map((value) => {
    const smaller = values.filter((other) => other < value).length;
    const equal = values.filter((other) => other === value).length;
    return 2 * smaller + equal + 1;
  });
}

const integers = fc.array(fc.tuple(fc.integer({ min: -50, max: 50 }), fc.integer({ min: -1000, max: 1000 })), {
  maxLength: 60,
});

test("coefficients are those of the definition", () => {
  fc.assert(
    fc.property(integers, (pairs) => {
      const [x, y] = [pairs.map(([left]) => left), pairs.map(([, right]) => right)];
      const { runs, pearson, spearman } = correlate(Float64Array.from(x), Float64Array.from(y));
      expect(runs).toBe(pairs.length);
      for (const [found, expected] of [
        [pearson, reference(x, y)],
        [spearman, reference(doubleRanks(x), doubleRanks(y))],
      ]) {
        if (expected === undefined) expect(found).toBeUndefined();
        else expect(found).toBeCloseTo(expected, 9);
      }
    }),
  );
});

describe("coefficients", () => {
  const of = (x: number[], y: number[]) => correlate(Float64Array.from(x), Float64Array.from(y));

  test.each([
    ["a line", [1, 2, 3], [10, 20, 30], { runs: 3, pearson: 1, spearman: 1 }],
    ["a falling line", [1, 2, 3], [3, 2, 1], { runs: 3, pearson: -1, spearman: -1 }],
    ["two runs", [1, 2], [5, 9], { runs: 2, pearson: 1, spearman: 1 }],
    ["one run", [1], [5], { runs: 1, pearson: undefined, spearman: undefined }],
    ["no runs", [], [], { runs: 0, pearson: undefined, spearman: undefined }],
    ["a constant", [1, 1, 1], [1, 2, 3], { runs: 3, pearson: undefined, spearman: undefined }],
    [
      "a constant that no sum holds exactly",
      [0.1, 0.1, 0.1],
      [1, 2, 3],
      { runs: 3, pearson: undefined, spearman: undefined },
    ],
    ["missing values", [1, Number.NaN, 3, 4], [1, 2, 3, Number.NaN], { runs: 2, pearson: 1, spearman: 1 }],
    ["huge values", [-1e308, 0, 1e308], [-1e308, 0, 1e308], { runs: 3, pearson: 1, spearman: 1 }],
    ["tiny values", [1e-300, 2e-300, 3e-300], [1, 2, 3], { runs: 3, pearson: 1, spearman: 1 }],
  ])("of %s", (_what, x, y, expected) => {
    const { runs, pearson, spearman } = of(x, y);
    const round = (value: number | undefined) => (value === undefined ? undefined : Math.round(value * 1e12) / 1e12);
    expect({ runs, pearson: round(pearson), spearman: round(spearman) }).toEqual(expected);
  });

  test("far from 0 keep their digits", () => {
    const { pearson } = of([1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 4], [1, 3, 2, 4]);
    expect(pearson).toBeCloseTo(0.8, 9);
  });

  test("of a curve that only rises are 1 by rank", () => {
    const { pearson, spearman } = of([1, 2, 3, 4, 5], [1, 10, 100, 1000, 10_000]);
    expect(spearman).toBeCloseTo(1, 12);
    expect(pearson).toBeLessThan(0.9);
  });
});
