import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";

import { anyPoints, columnsOf, columnsOfSeries } from "../columns/metric-columns.fixture.ts";
import { aggregatesOfColumns, type KeyAggregate } from "./key-aggregates.ts";
import { MERGES, type MergeAggregates } from "./merge-aggregates.fixture.ts";

type Points = [step: number, value: number][];

/** Returns an aggregate without its mean and squared deviations, by the definitions. */
function extremesOf(points: Points): Omit<KeyAggregate, "key" | "mean" | "m2"> {
  const others = points.filter(([, value]) => !Number.isFinite(value)).map(([step]) => step);
  const nonFinite = {
    nonFinite: others.length,
    nonFiniteFirstStep: others.length === 0 ? 0 : Math.min(...others),
    nonFiniteStep: Math.max(0, ...others),
  };
  return { ...finiteExtremesOf(points.filter(([, value]) => Number.isFinite(value))), ...nonFinite };
}

type FiniteExtremes = Omit<KeyAggregate, "key" | "mean" | "m2" | "nonFinite" | "nonFiniteFirstStep" | "nonFiniteStep">;

function finiteExtremesOf(points: Points): FiniteExtremes {
  if (points.length === 0) {
    const none = { min: NaN, minStep: NaN, max: NaN, maxStep: NaN, latest: NaN, latestStep: NaN, firstStep: NaN };
    return { count: 0, ...none };
  }
  const steps = points.map(([step]) => step);
  const values = points.map(([, value]) => value);
  const latestStep = Math.max(...steps);
  // Zeros of both signs are one extreme, which has the sign that was written where it was seen.
  const seen = (extreme: number): [step: number, value: number] =>
    points.filter(([, value]) => value === extreme).reduce((first, point) => (point[0] < first[0] ? point : first));
  const [minStep, min] = seen(Math.min(...values));
  const [maxStep, max] = seen(Math.max(...values));
  return {
    count: points.length,
    min,
    minStep,
    max,
    maxStep,
    latest: points.findLast(([step]) => step === latestStep)![1],
    latestStep,
    firstStep: Math.min(...steps),
  };
}

/** The values are integers over 128, so that sums of them and of their squares are exact in whole numbers. */
const SCALE = 128;

/** Returns mean and squared deviations without rounding until the last division. */
function exactMoments(points: Points): { mean: number; m2: number } {
  const finite = points.filter(([, value]) => Number.isFinite(value));
  const n = BigInt(finite.length);
  if (n === 0n) return { mean: NaN, m2: NaN };
  let sum = 0n;
  let squares = 0n;
  for (const [, value] of finite) {
    const x = BigInt(value * SCALE);
    sum += x;
    squares += x * x;
  }
  return {
    mean: Number(sum) / SCALE / finite.length,
    m2: Number(n * squares - sum * sum) / finite.length / SCALE ** 2,
  };
}

/** Merges neighbors until one is left, in an order given by `picks`: any tree over the batches in the order of their arrival. */
function mergeInAnyOrder(merge: MergeAggregates, aggregates: KeyAggregate[], picks: number[]): KeyAggregate {
  const rest = [...aggregates];
  for (let i = 0; rest.length > 1; i++) {
    const at = (picks[i % picks.length] ?? 0) % (rest.length - 1);
    rest.splice(at, 2, merge(rest[at]!, rest[at + 1]!));
  }
  return rest[0]!;
}

const history = fc.array(
  fc.tuple(
    fc.oneof(fc.nat(5), fc.nat(1_000_000)),
    fc.oneof(
      fc.integer({ min: -3, max: 3 }).map((x) => x / SCALE),
      fc.integer({ min: -100_000, max: 100_000 }).map((x) => x / SCALE),
      fc.constantFrom(NaN, Infinity, -Infinity),
    ),
  ),
  { minLength: 1, maxLength: 60 },
);

describe.each(MERGES)("aggregates of any history, cut into any batches and merged %s in any order", (_, merge) => {
  test("are the aggregates of the whole history: counts, extremes and steps exactly, mean and variance within 1e-9", () => {
    fc.assert(
      fc.property(history, fc.array(fc.nat(59)), fc.array(fc.nat(), { minLength: 1 }), (points, cuts, picks) => {
        const ends = [...new Set([...cuts.filter((cut) => cut > 0 && cut < points.length), points.length])].sort(
          (a, b) => a - b,
        );
        const batches = ends.map((end, i) => points.slice(ends[i - 1] ?? 0, end));
        const aggregates = batches.map((batch) => aggregatesOfColumns(columnsOfSeries("k", ...batch))[0]!);
        const { key, mean, m2, ...extremes } = mergeInAnyOrder(merge, aggregates, picks);
        expect(key).toBe("k");
        expect(extremes).toEqual(extremesOf(points));
        const exact = exactMoments(points);
        if (extremes.count === 0) {
          expect([mean, m2]).toEqual([NaN, NaN]);
          return;
        }
        expect(Math.abs(mean - exact.mean)).toBeLessThanOrEqual(1e-9);
        expect(Math.abs(m2 - exact.m2)).toBeLessThanOrEqual(1e-9 * exact.m2);
      }),
      { numRuns: 1_000 },
    );
  });

  test("show an extreme of zeros of both signs as it was written where it was seen first", () => {
    const points: Points = [
      [8, -0],
      [3, 0],
      [3, -0],
    ];
    expect(aggregatesOfColumns(columnsOfSeries("k", ...points))[0]).toMatchObject({
      min: 0,
      minStep: 3,
      max: 0,
      maxStep: 3,
    });
  });

  test("are numbers for any doubles, each key's own, with a mean between the extremes", () => {
    fc.assert(
      fc.property(anyPoints, (points) => {
        for (const aggregate of aggregatesOfColumns(columnsOf(points))) {
          const own = points.filter(({ metrics }) => aggregate.key in metrics);
          expect(aggregate).toMatchObject(
            extremesOf(own.map(({ metrics, step }): [number, number] => [step, metrics[aggregate.key]!])),
          );
          if (aggregate.count === 0) continue;
          const slack = 1e-15 * Math.max(Math.abs(aggregate.min), Math.abs(aggregate.max)) * aggregate.count;
          expect(aggregate.mean).toBeGreaterThanOrEqual(aggregate.min - slack);
          expect(aggregate.mean).toBeLessThanOrEqual(aggregate.max + slack);
          expect(aggregate.m2).toBeGreaterThanOrEqual(0);
          const twice = merge(aggregate, aggregate);
          expect(twice).toMatchObject({
            count: 2 * aggregate.count,
            min: aggregate.min,
            max: aggregate.max,
            mean: aggregate.mean,
          });
          expect(twice.m2).toBe(2 * aggregate.m2);
        }
      }),
    );
  });
});
