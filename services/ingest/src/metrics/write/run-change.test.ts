import fc from "fast-check";
import { describe, expect, test } from "@jest/globals";
import {
  mergeAggregate,
  mergeNonFinite,
  nonFiniteStartOf,
  NUMBERS_PER_AGGREGATE,
  NUMBERS_PER_NON_FINITE,
  type AggregateNumbers,
  AGGREGATE_NUMBERS,
  aggregateStartOf,
  AGGREGATES_PER_PAGE,
} from "@tidemark/codecs/metrics";
import {
  createRunChange,
  type ChangedRun,
  type KnownRun,
  sortChangesOf,
  type WrittenSortKey,
} from "./run-change.rules.ts";

const EMPTY: KnownRun = {
  keyCount: 0,
  pointCount: 0,
  page: (page) => {
    throw new Error(`page ${page} is not known`);
  },
};

/** Aggregates of one value each, at step 0. */
const aggregatesOf = (values: readonly number[]): AggregateNumbers => ({
  numbers: Float64Array.from(
    values.flatMap((value) =>
      Number.isFinite(value) ? [1, value, 0, value, 0, value, 0, value, 0, 0] : [0, ...Array<number>(9).fill(NaN)],
    ),
  ),
  nonFinite: values.every(Number.isFinite)
    ? null
    : Float64Array.from(values.flatMap((value) => [Number.isFinite(value) ? 0 : 1, 0, 0])),
});
const knownAfter = (run: ChangedRun, pages: Map<number, AggregateNumbers>): KnownRun => {
  for (const [page, numbers] of run.pages) pages.set(page, numbers);
  return { keyCount: run.keyCount, pointCount: run.pointCount, page: (page) => pages.get(page)! };
};

describe("keys of a run", () => {
  test("are numbered in the order in which they arrive, those of several writes together", () => {
    const change = createRunChange({ ...EMPTY, keyCount: 7 });
    expect([...change.idsOf(["a", "b", "c"], [-1, 3, -1])]).toEqual([7, 3, 8]);
    expect([...change.idsOf(["c", "d"], [-1, -1])]).toEqual([8, 9]);
    const { keyCount, newKeys } = change.finish();
    expect(keyCount).toBe(10);
    expect(newKeys).toEqual([
      { key: "a", keyId: 7 },
      { key: "c", keyId: 8 },
      { key: "d", keyId: 9 },
    ]);
  });
});

describe("pages of a run", () => {
  test("hold the aggregates of 32 keys each, the last one as many as there are", () => {
    const change = createRunChange(EMPTY);
    const keys = Array.from({ length: 70 }, (_, i) => `k${i}`);
    const ids = change.idsOf(
      keys,
      keys.map(() => -1),
    );
    change.add(ids, aggregatesOf(keys.map((_, i) => i)), 70);
    const { pages, pageChanges, pointCount } = change.finish();
    expect(pointCount).toBe(70);
    expect(Array.from(pages, ([page, { numbers }]) => [page, numbers.length / NUMBERS_PER_AGGREGATE])).toEqual([
      [0, 32],
      [1, 32],
      [2, 6],
    ]);
    expect(pageChanges.map(({ page, slot, numbers }) => [page, slot, numbers.length / NUMBERS_PER_AGGREGATE])).toEqual([
      [0, 0, 32],
      [1, 0, 32],
      [2, 0, 6],
    ]);
  });

  test("are written from the first aggregate that changes to the last, and not changed in place", () => {
    const page = aggregatesOf(Array.from({ length: 32 }, (_, i) => i));
    const before = structuredClone(page);
    const change = createRunChange({ keyCount: 32, pointCount: 32, page: () => page });
    change.add(Uint32Array.of(4, 9), aggregatesOf([40, 90]), 2);
    const { pageChanges } = change.finish();
    expect(pageChanges).toMatchObject([{ page: 0, slot: 4 }]);
    expect(pageChanges[0]!.numbers).toHaveLength(6 * NUMBERS_PER_AGGREGATE);
    expect(page).toEqual(before);
  });

  test("have a second array once a value is not finite, which is written when it changes", () => {
    const page = aggregatesOf(Array.from({ length: 32 }, (_, i) => (i === 3 ? NaN : i)));
    const before = structuredClone(page);
    const changeOf = (value: number): ChangedRun => {
      const change = createRunChange({ keyCount: 32, pointCount: 32, page: () => page });
      change.add(Uint32Array.of(4), aggregatesOf([value]), 1);
      return change.finish();
    };
    expect(changeOf(1).pageChanges).toMatchObject([{ nonFinite: null }]);
    expect(changeOf(1).pages.get(0)?.nonFinite).toEqual(page.nonFinite);
    const changed = page.nonFinite!.with(nonFiniteStartOf(4), 1);
    expect(changeOf(Infinity).pageChanges).toMatchObject([{ nonFinite: changed }]);
    expect(changeOf(Infinity).pages.get(0)?.nonFinite).toEqual(changed);
    expect(page).toEqual(before);
  });

  test("that are full are not read when keys follow them", () => {
    const change = createRunChange({ ...EMPTY, keyCount: 32 });
    const ids = change.idsOf(["new"], [-1]);
    change.add(ids, aggregatesOf([1]), 1);
    expect(change.finish().pageChanges).toMatchObject([{ page: 1, slot: 0 }]);
  });

  test("are the same however writes are grouped, and so do stored ones that stretches are put into", () => {
    const write = fc.dictionary(
      fc.nat(90).map(String),
      fc.oneof({ weight: 9, arbitrary: fc.integer({ min: -9, max: 9 }) }, { weight: 1, arbitrary: fc.constant(NaN) }),
      { minKeys: 1, maxKeys: 12 },
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(write, fc.boolean()), { maxLength: 12 }), (writes) => {
        const stored = new Map<number, number[]>();
        const storedNonFinite = new Map<number, Float64Array>();
        const pages = new Map<number, AggregateNumbers>();
        const ids = new Map<string, number>();
        const naive = new Map<string, { readonly numbers: Float64Array; readonly nonFinite: Float64Array }>();
        let known = EMPTY;
        let change = createRunChange(known);
        const finish = (): void => {
          const run = change.finish();
          for (const { key, keyId } of run.newKeys) ids.set(key, keyId);
          for (const { page, slot, numbers, nonFinite } of run.pageChanges) {
            if (nonFinite !== null) storedNonFinite.set(page, nonFinite);
            const old = stored.get(page) ?? [];
            const from = slot * NUMBERS_PER_AGGREGATE;
            stored.set(page, [...old.slice(0, from), ...numbers, ...old.slice(from + numbers.length)]);
          }
          known = knownAfter(run, pages);
          change = createRunChange(known);
        };
        for (const [metrics, ends] of writes) {
          const keys = Object.keys(metrics);
          const aggregates = aggregatesOf(Object.values(metrics));
          const keyIds = change.idsOf(
            keys,
            keys.map((key) => ids.get(key) ?? -1),
          );
          change.add(keyIds, aggregates, keys.length);
          keys.forEach((key, i) => {
            const aggregate = naive.get(key) ?? {
              numbers: new Float64Array(NUMBERS_PER_AGGREGATE),
              nonFinite: new Float64Array(NUMBERS_PER_NON_FINITE),
            };
            const { numbers, nonFinite } = aggregates;
            mergeAggregate(aggregate.numbers, 0, numbers, i * NUMBERS_PER_AGGREGATE);
            if (nonFinite !== null) mergeNonFinite(aggregate.nonFinite, 0, nonFinite, i * NUMBERS_PER_NON_FINITE);
            naive.set(key, aggregate);
          });
          if (ends) finish();
        }
        finish();
        expect(known.keyCount).toBe(naive.size);
        for (const [key, aggregate] of naive) {
          const id = ids.get(key)!;
          const at = (id % 32) * NUMBERS_PER_AGGREGATE;
          const { numbers, nonFinite } = pages.get(id >>> 5)!;
          expect(numbers.subarray(at, at + NUMBERS_PER_AGGREGATE)).toEqual(aggregate.numbers);
          const others = nonFiniteStartOf(id);
          const found = (nonFinite ?? []).slice(others, others + NUMBERS_PER_NON_FINITE);
          expect([...found, 0, 0, 0].slice(0, NUMBERS_PER_NON_FINITE)).toEqual([...aggregate.nonFinite]);
          expect(storedNonFinite.get(id >>> 5) ?? null).toEqual(nonFinite);
        }
        expect(Array.from(stored, ([page, numbers]) => [page, numbers])).toEqual(
          Array.from(stored, ([page]) => [page, [...pages.get(page)!.numbers]]),
        );
      }),
    );
  });
});

type Values = { readonly min: number; readonly max: number; readonly latest: number };

/** A page on which one key has these values. */
function pageOf(keyId: number, values: Values): AggregateNumbers {
  const page = new Float64Array(AGGREGATES_PER_PAGE * NUMBERS_PER_AGGREGATE);
  for (const [name, value] of Object.entries(values))
    page[aggregateStartOf(keyId) + AGGREGATE_NUMBERS.indexOf(name as keyof Values)] = value;
  return { numbers: page, nonFinite: null };
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

test("a key without finite values has none to sort by", () => {
  const none = { min: NaN, max: NaN, latest: NaN };
  expect(changesOf(written(), undefined, none)).toEqual([{ best: NaN, latest: NaN, isNew: true }]);
  expect(changesOf(written(), none, none)).toEqual([]);
  expect(changesOf(written(), none, values)).toEqual([{ best: 5, latest: 1, isNew: false }]);
});

test("a new key gets its values, and one that nothing is sorted by is NaN", () => {
  expect(changesOf(written(), undefined, values)).toEqual([{ best: 5, latest: 1, isNew: true }]);
  expect(changesOf(written({ by: { best: false, latest: true } }), undefined, values)).toEqual([
    { best: NaN, latest: 1, isNew: true },
  ]);
});
