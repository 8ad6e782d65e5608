import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";

import { createColumnsBuilder } from "../columns/columns-builder.ts";
import {
  AGGREGATE_NUMBERS,
  AGGREGATES_PER_PAGE,
  NON_FINITE_NUMBERS,
  NUMBERS_PER_AGGREGATE,
  NUMBERS_PER_NON_FINITE,
} from "../storage-layout.ts";
import {
  aggregateNumbersOf,
  aggregatePageOf,
  aggregateStartOf,
  mergeAggregate,
  mergeNonFinite,
  nonFiniteStartOf,
} from "./aggregate-page.ts";
import { aggregatesOfColumns, type KeyAggregate } from "./key-aggregates.ts";
import { mergeByDefinition, nonFiniteNumbersOf, numbersOf } from "./merge-aggregates.fixture.ts";

const value = fc.oneof(
  fc.integer({ min: -3, max: 3 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(Number.MAX_VALUE, -Number.MAX_VALUE, Number.MIN_VALUE, 0, -0),
  fc.constantFrom(NaN, Infinity, -Infinity),
);
const point = fc.tuple(
  fc.integer({ min: 0, max: 5 }),
  fc.dictionary(fc.constantFrom("a", "b", "c"), value, { minKeys: 1 }),
);
const batch = fc.array(point, { minLength: 1, maxLength: 5 });

function columnsOf(points: readonly (readonly [number, Record<string, number>])[]) {
  const builder = createColumnsBuilder({ readOther: (sent) => sent as number });
  for (const [step, metrics] of points) builder.addPoint(metrics, step, null);
  return builder.build();
}

test.each([
  [0, 0, 0],
  [31, 0, 310],
  [32, 1, 0],
  [100_000, 3125, 0],
  [2 ** 31 - 1, 2 ** 26 - 1, 310],
])("the aggregate of key %i is in page %i from number %i on", (keyId, page, start) => {
  expect([aggregatePageOf(keyId), aggregateStartOf(keyId)]).toEqual([page, start]);
  expect([page * AGGREGATES_PER_PAGE + start / NUMBERS_PER_AGGREGATE]).toEqual([keyId]);
  expect(nonFiniteStartOf(keyId) * NUMBERS_PER_AGGREGATE).toBe(start * NUMBERS_PER_NON_FINITE);
});

test("an aggregate has as many numbers as are named", () => {
  expect(AGGREGATE_NUMBERS).toHaveLength(NUMBERS_PER_AGGREGATE);
  expect(NON_FINITE_NUMBERS).toHaveLength(NUMBERS_PER_NON_FINITE);
});

test("the numbers of a batch are its aggregates, key by key, of one point as of many", () => {
  fc.assert(
    fc.property(batch, (points) => {
      const columns = columnsOf(points);
      const { numbers, nonFinite } = aggregateNumbersOf(columns);
      const aggregates = aggregatesOfColumns(columns);
      expect([...numbers]).toEqual(aggregates.flatMap(numbersOf));
      const others = aggregates.flatMap(nonFiniteNumbersOf);
      expect(nonFinite === null ? null : [...nonFinite]).toEqual(others.every((one) => one === 0) ? null : others);
    }),
  );
});

describe("an aggregate that others are merged into", () => {
  test("becomes the first one as long as it has no values", () => {
    const page = new Float64Array(2 * NUMBERS_PER_AGGREGATE);
    const { numbers } = aggregateNumbersOf(columnsOf([[3, { a: -1 }]]));
    mergeAggregate(page, NUMBERS_PER_AGGREGATE, numbers, 0);
    expect([...page]).toEqual([...Array.from({ length: NUMBERS_PER_AGGREGATE }, () => 0), ...numbers]);
  });

  test("equals the aggregates by definition, for any values", () => {
    fc.assert(
      fc.property(fc.array(batch, { minLength: 1, maxLength: 8 }), (batches) => {
        const page = new Float64Array(NUMBERS_PER_AGGREGATE);
        const others = new Float64Array(NUMBERS_PER_NON_FINITE);
        let wanted: KeyAggregate | undefined;
        for (const points of batches) {
          const columns = columnsOf(points);
          const at = columns.keys.indexOf("a");
          if (at < 0) continue;
          const added = aggregateNumbersOf(columns);
          mergeAggregate(page, 0, added.numbers, at * NUMBERS_PER_AGGREGATE);
          if (added.nonFinite !== null) mergeNonFinite(others, 0, added.nonFinite, at * NUMBERS_PER_NON_FINITE);
          const aggregate = aggregatesOfColumns(columns)[at]!;
          wanted = wanted === undefined ? aggregate : mergeByDefinition(wanted, aggregate);
        }
        fc.pre(wanted !== undefined);
        expect([...page]).toEqual(numbersOf(wanted));
        expect([...others]).toEqual(nonFiniteNumbersOf(wanted));
        if (wanted.count === 0) return;
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
      "a value that is not finite changes nothing, and what comes first may be one",
      [
        [1, NaN],
        [2, 5],
        [3, Infinity],
      ],
      { count: 1, mean: 5, m2: 0, min: 5, max: 5, latest: 5, latestStep: 2, firstStep: 2 },
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
      mergeAggregate(page, 0, aggregateNumbersOf(columnsOf([[step, { a: number }]])).numbers, 0);
    expect(Object.fromEntries(AGGREGATE_NUMBERS.map((name, i) => [name, page[i]]))).toMatchObject(wanted);
  });
});
