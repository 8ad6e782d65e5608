import { describe, expect, test } from "@jest/globals";
import {
  createColumnsBuilder,
  headsOfColumns as aggregatesOfColumns,
  NUMBERS_PER_HEAD as NUMBERS_PER_AGGREGATE,
  type HeadDelta as KeyAggregate,
} from "@tidemark/metric-codec";
import fc from "fast-check";
import { mergedAggregates } from "./key-aggregates.fixture.ts";
import { aggregateNumbersOf, mergeAggregate } from "./key-aggregates.rules.ts";

const value = fc.oneof(
  fc.integer({ min: -3, max: 3 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(Number.MAX_VALUE, -Number.MAX_VALUE, Number.MIN_VALUE, 0, -0),
);
const point = fc.tuple(
  fc.integer({ min: 0, max: 5 }),
  fc.dictionary(fc.constantFrom("a", "b", "c"), value, { minKeys: 1 }),
);
const batch = fc.array(point, { minLength: 1, maxLength: 5 });

function columnsOf(points: readonly (readonly [number, Record<string, number>])[]) {
  const builder = createColumnsBuilder();
  for (const [step, metrics] of points) builder.addPoint(metrics, step, null);
  return builder.build();
}

const numbersOf = (aggregate: KeyAggregate): number[] => [
  aggregate.count,
  aggregate.mean,
  aggregate.m2,
  aggregate.min,
  aggregate.minStep,
  aggregate.max,
  aggregate.maxStep,
  aggregate.latest,
  aggregate.latestStep,
  aggregate.firstStep,
];

test("the numbers of a batch are its aggregates, key by key, of one point as of many", () => {
  fc.assert(
    fc.property(batch, (points) => {
      const columns = columnsOf(points);
      expect([...aggregateNumbersOf(columns)]).toEqual(aggregatesOfColumns(columns).flatMap(numbersOf));
    }),
  );
});

describe("an aggregate that others are merged into", () => {
  test("is the first of them as long as it has no values", () => {
    const page = new Float64Array(2 * NUMBERS_PER_AGGREGATE);
    const aggregates = aggregateNumbersOf(columnsOf([[3, { a: -1 }]]));
    mergeAggregate(page, NUMBERS_PER_AGGREGATE, aggregates, 0);
    expect([...page]).toEqual([...Array.from({ length: NUMBERS_PER_AGGREGATE }, () => 0), ...aggregates]);
  });

  test("is what a model makes of the same aggregates, whatever the values", () => {
    fc.assert(
      fc.property(fc.array(batch, { minLength: 1, maxLength: 8 }), (batches) => {
        const page = new Float64Array(NUMBERS_PER_AGGREGATE);
        let wanted: KeyAggregate | undefined;
        for (const points of batches) {
          const columns = columnsOf(points);
          const at = columns.keys.indexOf("a");
          if (at < 0) continue;
          mergeAggregate(page, 0, aggregateNumbersOf(columns), at * NUMBERS_PER_AGGREGATE);
          const aggregate = aggregatesOfColumns(columns)[at]!;
          wanted = wanted === undefined ? aggregate : mergedAggregates(wanted, aggregate);
        }
        fc.pre(wanted !== undefined);
        expect([...page]).toEqual(numbersOf(wanted));
        expect([...page].some(Number.isNaN)).toBe(false);
        // Only the sum of squares may be beyond a double.
        expect([...page].filter((number, i) => i !== 2 && !Number.isFinite(number))).toEqual([]);
      }),
    );
  });

  test.each([
    [
      "a later arrival at the same step is the latest",
      [
        [1, 5],
        [1, 6],
      ],
      { latest: 6, latestStep: 1 },
    ],
    [
      "an earlier step is not the latest",
      [
        [2, 5],
        [1, 6],
      ],
      { latest: 5, latestStep: 2 },
    ],
    [
      "an equal minimum counts at its lowest step",
      [
        [4, 5],
        [2, 5],
        [3, 5],
      ],
      { minStep: 2, maxStep: 2 },
    ],
    [
      "the first step is the lowest",
      [
        [4, 5],
        [2, 7],
      ],
      { firstStep: 2, min: 5, max: 7 },
    ],
  ] as const)("%s", (_, points, wanted) => {
    const page = new Float64Array(NUMBERS_PER_AGGREGATE);
    for (const [step, number] of points)
      mergeAggregate(page, 0, aggregateNumbersOf(columnsOf([[step, { a: number }]])), 0);
    const names = ["count", "mean", "m2", "min", "minStep", "max", "maxStep", "latest", "latestStep", "firstStep"];
    expect(Object.fromEntries(names.map((name, i) => [name, page[i]]))).toMatchObject(wanted);
  });
});
