import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { noise } from "./columns/metric-columns.fixture.ts";
import { smooth, type Smoothing } from "./smooth.ts";

type Point = readonly [step: number, value: number];

const columnsOf = (points: readonly Point[]) => ({
  steps: Float64Array.from(points, ([step]) => step),
  values: Float64Array.from(points, ([, value]) => value),
});
const smoothed = (smoothing: Smoothing, points: readonly Point[]): number[] => {
  const { steps, values } = columnsOf(points);
  return [...smooth(smoothing, steps, values)];
};

/** The definitions, point by point and without any shortcut. */
const definitions = {
  /** Weights of all points before: (1 - a) of each, times what every later point left of it; then divided by their sum. */
  ema(points: readonly Point[], weight: number): number[] {
    const kept = points.map(([step], i) => {
      const distance = i === 0 ? 1 : step - points[i - 1]![0];
      return weight ** (distance === 0 ? 1 : distance);
    });
    return points.map((_, i) => {
      const weights = points
        .slice(0, i + 1)
        .map((__, j) => kept.slice(j + 1, i + 1).reduce((a, b) => a * b, 1 - kept[j]!));
      const sum = weights.reduce((a, b) => a + b, 0);
      return weights.reduce((total, own, j) => total + own * points[j]![1], 0) / sum;
    });
  },
  gaussian(points: readonly Point[], deviation: number): number[] {
    return points.map(([at]) => {
      const weights = points.map(([step]) => Math.exp(-((step - at) ** 2) / (2 * deviation ** 2)));
      const sum = weights.reduce((a, b) => a + b, 0);
      return points.reduce((total, [, value], i) => total + weights[i]! * value, 0) / sum;
    });
  },
  mean(points: readonly Point[], width: number): number[] {
    return points.map(([at]) => {
      const near = points.filter(([step]) => Math.abs(step - at) <= width / 2);
      return near.reduce((total, [, value]) => total + value, 0) / near.length;
    });
  },
};

const anyPoints = fc
  .array(
    fc.tuple(
      fc.oneof(
        fc.nat(60),
        fc.nat(400).map((n) => n / 4),
      ),
      fc.double({ min: -5, max: 5, noNaN: true }),
    ),
    {
      minLength: 1,
      maxLength: 60,
    },
  )
  .map((points) => points.toSorted(([a], [b]) => a - b));

describe("smoothing", () => {
  test.each<[Smoothing["kind"], fc.Arbitrary<number>]>([
    ["ema", fc.double({ min: 0, max: 0.99, noNaN: true })],
    ["gaussian", fc.double({ min: 0.01, max: 2, noNaN: true })],
    ["mean", fc.integer({ min: 1, max: 60 })],
  ])("by %s is what its definition says", (kind, anyParameter) => {
    fc.assert(
      fc.property(anyPoints, anyParameter, (points, parameter) => {
        const found = smoothed({ kind, parameter }, points);
        const wanted = definitions[kind](points, parameter);
        expect(Math.max(...found.map((value, i) => Math.abs(value - wanted[i]!)))).toBeLessThan(1e-6);
      }),
      { numRuns: 300 },
    );
  });

  test("by ema is TensorBoard's, where there is one point a step", () => {
    const values = Array.from({ length: 50 }, (_, i) => noise(i));
    let last = 0;
    const tensorBoard = values.map((value, i) => {
      last = last * 0.8 + (1 - 0.8) * value;
      return last / (1 - 0.8 ** (i + 1));
    });
    const found = smoothed(
      { kind: "ema", parameter: 0.8 },
      values.map((value, i) => [i, value]),
    );
    found.forEach((value, i) => expect(value).toBeCloseTo(tensorBoard[i]!, 12));
  });

  test.each<Smoothing["kind"]>(["ema", "gaussian", "mean"])("by %s leaves values that are not finite out", (kind) => {
    const points: Point[] = [
      [0, NaN],
      [1, 4],
      [2, Infinity],
      [3, 2],
      [4, -Infinity],
      [5, 3],
    ];
    const finite = points.filter(([, value]) => Number.isFinite(value));
    const [a, b, c] = smoothed({ kind, parameter: 0.5 }, finite);
    expect(smoothed({ kind, parameter: 0.5 }, points)).toEqual([NaN, a, NaN, b, NaN, c]);
  });

  test("by ema with weight 0 changes nothing", () => {
    const points = Array.from({ length: 20 }, (_, i): Point => [3 * i, noise(i)]);
    expect(smoothed({ kind: "ema", parameter: 0 }, points)).toEqual(points.map(([, value]) => value));
  });

  test.each([12, 40, 900])(
    "by a gaussian of %i steps over many points is within a thousandth of the spread",
    (deviation) => {
      const points = Array.from({ length: 800 }, (_, i): Point => [
        i < 400 ? i : 2 * i - 400,
        noise(i) + (i > 600 ? 1 : 0),
      ]);
      const wanted = definitions.gaussian(points, deviation);
      const found = smoothed({ kind: "gaussian", parameter: deviation }, points);
      const worst = Math.max(...found.map((value, i) => Math.abs(value - wanted[i]!)));
      expect(worst).toBeLessThan(0.002);
    },
  );

  test("by a gaussian works over gaps that are far wider than it, and over more cells than are calculated at a time", () => {
    const clusters = [0, 1e9, 2e9 + 0.25, 1e12].flatMap((first) =>
      Array.from({ length: 400 }, (_, i): Point => [first + i, noise(i)]),
    );
    const long = Array.from({ length: 18_000 }, (_, i): Point => [10 * i, noise(i)]);
    const dense = Array.from({ length: 200 }, (_, i): Point => [180_000 + i / 1000, 3]);
    for (const points of [clusters, [...long, ...dense]]) {
      const found = smoothed({ kind: "gaussian", parameter: 20 }, points);
      // Of the definition only points that are near, so that the test ends.
      for (let i = 0; i < points.length; i += 977) {
        const near = points.filter(([step]) => Math.abs(step - points[i]![0]) < 200);
        const at = near.findIndex((point) => point === points[i]);
        expect(Math.abs(found[i]! - definitions.gaussian(near, 20)[at]!)).toBeLessThan(0.004);
      }
    }
  });

  test("by a running average forgets a large value when it has left the window", () => {
    const points = [1e300, -1e17, ...Array<number>(10).fill(0.125)].map((value, i): Point => [
      i < 2 ? i : 8 + i,
      value,
    ]);
    expect(smoothed({ kind: "mean", parameter: 4 }, points).slice(2)).toEqual(Array(10).fill(0.125));
  });

  test("gives finite numbers for the largest values", () => {
    const points = Array.from({ length: 40 }, (_, i): Point => [i, i % 3 === 0 ? -Number.MAX_VALUE : Number.MAX_VALUE]);
    for (const kind of ["ema", "gaussian", "mean"] as const) {
      const parameter = kind === "ema" ? 0.5 : 5;
      expect(smoothed({ kind, parameter }, points).every(Number.isFinite)).toBe(true);
    }
  });

  test("of no points is nothing", () => {
    for (const kind of ["ema", "gaussian", "mean"] as const) expect(smoothed({ kind, parameter: 0.5 }, [])).toEqual([]);
  });
});
