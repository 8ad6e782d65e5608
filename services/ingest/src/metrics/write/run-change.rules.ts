import {
  aggregatePageOf,
  AGGREGATES_PER_PAGE,
  aggregateStartOf,
  mergeAggregate,
  NUMBERS_PER_AGGREGATE,
} from "@tidemark/codecs/metrics";

const PAGE_NUMBERS = AGGREGATES_PER_PAGE * NUMBERS_PER_AGGREGATE;
/** The stored state of a run's metrics that a write of some keys needs. */
export type KnownRun = {
  readonly keyCount: number;
  readonly pointCount: number;
  /** Returns a page that already has keys. */
  page(page: number): Float64Array;
};

/** How a page changes: `numbers` are its aggregates from `slot` on, from the first that changes to the last. */
export type PageChange = {
  readonly page: number;
  readonly slot: number;
  readonly numbers: Float64Array;
};

/** What some writes, one after another, change in a run. */
export type RunChange = {
  /** Returns the ids of a write's keys. `found` holds the ids that the run has, -1 for the other keys, which get the next ids in their order. */
  idsOf(keys: readonly string[], found: ArrayLike<number>): Uint32Array;
  /** Adds the aggregates of a write, ten numbers for each of its keys. */
  add(keyIds: Uint32Array, aggregates: Float64Array, valueCount: number): void;
  /** Returns the run as it is after the writes. Nothing may be added afterwards. */
  finish(): ChangedRun;
};

/** A run as it is after some writes. */
export type ChangedRun = {
  readonly keyCount: number;
  readonly pointCount: number;
  readonly newKeys: readonly { readonly key: string; readonly keyId: number }[];
  readonly pageChanges: readonly PageChange[];
  /** The changed pages in their new state. */
  readonly pages: ReadonlyMap<number, Float64Array>;
};

type ChangedPage = { readonly numbers: Float64Array; from: number; to: number };

/** Begins with the known state of the run, and does not change that state. */
export function createRunChange(known: KnownRun): RunChange {
  const newIds = new Map<string, number>();
  const changed = new Map<number, ChangedPage>();
  let pointCount = known.pointCount;

  const pageOf = (index: number): ChangedPage => {
    let page = changed.get(index);
    if (page === undefined) {
      page = { numbers: new Float64Array(PAGE_NUMBERS), from: PAGE_NUMBERS, to: 0 };
      if (index * AGGREGATES_PER_PAGE < known.keyCount) page.numbers.set(known.page(index));
      changed.set(index, page);
    }
    return page;
  };

  return {
    idsOf(keys, found) {
      const ids = new Uint32Array(keys.length);
      for (let i = 0; i < keys.length; i++) {
        let id = found[i];
        if (id === undefined || id < 0) {
          id = newIds.get(keys[i]!);
          if (id === undefined) {
            id = known.keyCount + newIds.size;
            newIds.set(keys[i]!, id);
          }
        }
        ids[i] = id;
      }
      return ids;
    },
    add(keyIds, aggregates, valueCount) {
      pointCount += valueCount;
      let index = -1;
      let page: ChangedPage | undefined;
      for (let i = 0; i < keyIds.length; i++) {
        const id = keyIds[i]!;
        if (page === undefined || aggregatePageOf(id) !== index) {
          index = aggregatePageOf(id);
          page = pageOf(index);
        }
        const at = aggregateStartOf(id);
        mergeAggregate(page.numbers, at, aggregates, i * NUMBERS_PER_AGGREGATE);
        if (at < page.from) page.from = at;
        if (at >= page.to) page.to = at + NUMBERS_PER_AGGREGATE;
      }
    },
    finish() {
      const keyCount = known.keyCount + newIds.size;
      const pages = new Map<number, Float64Array>();
      const pageChanges: PageChange[] = [];
      for (const [page, { numbers, from, to }] of changed) {
        const length = Math.min(PAGE_NUMBERS, (keyCount - page * AGGREGATES_PER_PAGE) * NUMBERS_PER_AGGREGATE);
        pages.set(page, length < PAGE_NUMBERS ? numbers.slice(0, length) : numbers);
        pageChanges.push({ page, slot: from / NUMBERS_PER_AGGREGATE, numbers: numbers.subarray(from, to) });
      }
      const newKeys = Array.from(newIds, ([key, keyId]) => ({ key, keyId }));
      return { keyCount, pointCount, newKeys, pageChanges, pages };
    },
  };
}
