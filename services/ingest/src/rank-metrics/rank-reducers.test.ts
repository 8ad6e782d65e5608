import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { createRankReducer } from "./rank-reducers.rules.ts";

function reduce(values: readonly number[], weights: readonly number[] = values.map(() => 1)) {
  const zScores = new Float64Array(values.length).fill(NaN);
  const reducers = createRankReducer(512)(Float64Array.from(values), Float64Array.from(weights), zScores);
  return { ...reducers, zScores: [...zScores] };
}

const MAX = Number.MAX_VALUE;
const TINY = 5e-324;

describe("the values of a step", () => {
  test("have mean, weighted mean, bounds, deviation of the population and percentiles", () => {
    expect(reduce([1, 3], [1, 3])).toEqual({
      mean: 2,
      weightedMean: 2.5,
      min: 1,
      max: 3,
      stddev: 1,
      p05: 1,
      p50: 3,
      p95: 3,
      zScores: [-1, 1],
    });
  });

  test("of one rank are that value, without deviation", () => {
    expect(reduce([0.1], [7])).toMatchObject({
      mean: 0.1,
      weightedMean: 0.1,
      p05: 0.1,
      p95: 0.1,
      stddev: 0,
      zScores: [0],
    });
  });

  test("that are all the same have exactly that mean and no deviation, without rounding", () => {
    const same = Array.from({ length: 10 }, () => 0.1);
    expect(reduce(same, [3, 0.1, ...same.slice(2)])).toMatchObject({ mean: 0.1, weightedMean: 0.1, stddev: 0 });
    expect(reduce(same).zScores).toEqual(same.map(() => 0));
  });

  test("need not be in order", () => {
    expect(reduce([5, -1, 3])).toMatchObject({ min: -1, max: 5, p50: 3, mean: 7 / 3 });
  });

  test.each([
    ["2 values: halves round up", 2, [0, 1, 1]],
    ["3 values", 3, [0, 1, 2]],
    ["11 values: halves round up at both ends", 11, [1, 5, 10]],
    ["10 values", 10, [0, 5, 9]],
    ["64 values", 64, [3, 32, 60]],
    ["71 values", 71, [4, 35, 67]],
    ["512 values", 512, [26, 256, 485]],
  ])("percentiles are taken at round((n - 1) * p) of %s", (_, count, [p05, p50, p95]) => {
    expect(reduce(Array.from({ length: count }, (_value, i) => count - 1 - i))).toMatchObject({ p05, p50, p95 });
  });

  test("next to a huge one are not lost by the order in which they are added", () => {
    expect(reduce([1e16, 1, 1, 1, 1, -1e16]).mean).toBe(4 / 6);
  });
});

describe("at the ends of the range of a double", () => {
  test.each<[string, number[], object]>([
    ["the largest values", [MAX, MAX], { mean: MAX, stddev: 0, zScores: [0, 0] }],
    ["the largest value and its opposite", [MAX, -MAX], { mean: 0, stddev: MAX, zScores: [1, -1] }],
    [
      "512 of the largest and their opposites",
      Array.from({ length: 512 }, (_value, i) => (i % 2 === 0 ? MAX : -MAX)),
      { mean: 0, stddev: MAX },
    ],
    ["one value against many", [MAX, -MAX, -MAX, -MAX], { mean: -MAX / 2, min: -MAX, max: MAX }],
    ["huge values of one sign", [1e308, 1.6e308], { mean: 1.3e308, stddev: 3e307 }],
    ["small values", [1e-200, 3e-200], { mean: 2e-200, stddev: 1e-200, zScores: [-1, 1] }],
    ["the smallest values", [0, 2 * TINY], { mean: TINY, stddev: TINY, zScores: [-1, 1] }],
  ])("%s have mean and deviation", (_, values, expected) => {
    const found = reduce(values);
    expect(found).toMatchObject(expected);
  });

  test.each<[string, number[], number]>([
    ["huge weights", [MAX, MAX], 2],
    ["tiny weights", [TINY, TINY], 2],
    ["a weight that makes the other negligible", [MAX, TINY], 1],
  ])("%s make a weighted mean", (_, weights, expected) => {
    expect(reduce([1, 3], weights).weightedMean).toBe(expected);
  });

  test("huge values with huge weights make a weighted mean", () => {
    expect(reduce([MAX, -MAX], [MAX, MAX / 2]).weightedMean / MAX).toBeCloseTo(1 / 3, 12);
  });
});

test("for any finite values and weights, all results are finite, and means lie between the bounds", () => {
  const anyNumber = fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0);
  const anyWeight = fc.double({ min: TINY, max: MAX, noNaN: true });
  fc.assert(
    fc.property(fc.array(fc.tuple(anyNumber, anyWeight), { minLength: 1, maxLength: 40 }), (pairs) => {
      const values = pairs.map(([value]) => value);
      const { zScores, ...found } = reduce(
        values,
        pairs.map(([, weight]) => weight),
      );
      for (const number of [...Object.values(found), ...zScores]) expect(Number.isFinite(number)).toBe(true);
      expect([found.min, found.max]).toEqual([Math.min(...values), Math.max(...values)]);
      for (const mean of [found.mean, found.weightedMean]) {
        expect(mean).toBeGreaterThanOrEqual(found.min);
        expect(mean).toBeLessThanOrEqual(found.max);
      }
      expect(found.stddev).toBeGreaterThanOrEqual(0);
    }),
  );
});

test("of plain numbers the results are those of the plain formulas", () => {
  const anyPair = fc.tuple(
    fc.double({ min: -1e6, max: 1e6, noNaN: true }),
    fc.double({ min: 0.01, max: 100, noNaN: true }),
  );
  fc.assert(
    fc.property(fc.array(anyPair, { minLength: 1, maxLength: 40 }), (pairs) => {
      const values = pairs.map(([value]) => value);
      const n = values.length;
      const mean = values.reduce((sum, value) => sum + value, 0) / n;
      const stddev = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / n);
      const found = reduce(
        values,
        pairs.map(([, weight]) => weight),
      );
      const weighted = pairs.reduce((sum, [v, w]) => sum + v * w, 0) / pairs.reduce((sum, [, w]) => sum + w, 0);
      const scale = Math.max(1, ...values.map(Math.abs));
      expect(Math.abs(found.mean - mean) / scale).toBeLessThan(1e-12);
      expect(Math.abs(found.weightedMean - weighted) / scale).toBeLessThan(1e-12);
      expect(Math.abs(found.stddev - stddev) / scale).toBeLessThan(1e-7);
    }),
  );
});
