import { describe, expect, test } from "@jest/globals";
import {
  AGGREGATE_NUMBERS,
  aggregateStartOf,
  AGGREGATES_PER_PAGE,
  NUMBERS_PER_AGGREGATE,
} from "@tidemark/codecs/metrics";
import { sortChangesOf, type WrittenSortKey } from "./sort-changes.rules.ts";

type Values = { readonly min: number; readonly max: number; readonly latest: number };

/** A page on which one key has these values. */
function pageOf(keyId: number, values: Values): Float64Array {
  const page = new Float64Array(AGGREGATES_PER_PAGE * NUMBERS_PER_AGGREGATE);
  for (const [name, value] of Object.entries(values))
    page[aggregateStartOf(keyId) + AGGREGATE_NUMBERS.indexOf(name as keyof Values)] = value;
  return page;
}

const KEY_ID = 37;
const written = (parts: Partial<WrittenSortKey> = {}): WrittenSortKey => ({
  key: "k",
  keyId: KEY_ID,
  minimize: false,
  by: { best: true, latest: true },
  ...parts,
});
/** The changes when a key goes from some values to others; with no values before, the run did not have it. */
const changesOf = (key: WrittenSortKey, before: Values | undefined, after: Values) =>
  sortChangesOf([key], {
    keyCountBefore: before === undefined ? KEY_ID : KEY_ID + 1,
    before: (page) => {
      if (before === undefined) throw new Error("a page of before was read for a new key");
      expect(page).toBe(1);
      return pageOf(KEY_ID, before);
    },
    after: () => pageOf(KEY_ID, after),
  }).map(({ best, latest, isNew }) => ({ best, latest, isNew }));

const values: Values = { min: -3, max: 5, latest: 1 };
const better: Values = { min: -4, max: 6, latest: 6 };

describe("a key that the run has", () => {
  test("changes in the values that become others", () => {
    expect(changesOf(written(), values, better)).toEqual([{ best: 6, latest: 6, isNew: false }]);
    expect(changesOf(written(), values, { ...values, latest: 2 })).toEqual([{ best: NaN, latest: 2, isNew: false }]);
    expect(changesOf(written(), values, { ...values, max: 6 })).toEqual([{ best: 6, latest: NaN, isNew: false }]);
    expect(changesOf(written(), values, { ...values, min: -9 })).toEqual([]);
  });

  test("has the lowest value as its best, negated, where less is better", () => {
    expect(changesOf(written({ minimize: true }), values, better)).toEqual([{ best: 4, latest: 6, isNew: false }]);
    expect(changesOf(written({ minimize: true }), values, { ...values, max: 9 })).toEqual([]);
  });

  test("does not change in a value that nothing is sorted by", () => {
    const byBest = written({ by: { best: true, latest: false } });
    const byLatest = written({ by: { best: false, latest: true } });
    expect(changesOf(byBest, values, better)).toEqual([{ best: 6, latest: NaN, isNew: false }]);
    expect(changesOf(byLatest, values, better)).toEqual([{ best: NaN, latest: 6, isNew: false }]);
    expect(changesOf(byBest, values, { ...values, latest: 2 })).toEqual([]);
  });

  test("does not change from zero to minus zero, which sort alike", () => {
    expect(changesOf(written(), { min: 0, max: 0, latest: 0 }, { min: -0, max: -0, latest: -0 })).toEqual([]);
  });
});

test("a new key gets its values, and one that nothing is sorted by is NaN", () => {
  expect(changesOf(written(), undefined, values)).toEqual([{ best: 5, latest: 1, isNew: true }]);
  expect(changesOf(written({ by: { best: false, latest: true } }), undefined, values)).toEqual([
    { best: NaN, latest: 1, isNew: true },
  ]);
});
