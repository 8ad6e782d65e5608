import {
  aggregatePageOf,
  AGGREGATES_PER_PAGE,
  aggregateStartOf,
  mergeAggregate,
  NUMBERS_PER_AGGREGATE,
} from "@tidemark/metric-codec";

const PAGE_NUMBERS = AGGREGATES_PER_PAGE * NUMBERS_PER_AGGREGATE;

/** What is stored of a run's metrics, as far as a write of some keys has to know it. */
export type KnownRun = {
  readonly keyCount: number;
  readonly pointCount: number;
  /** A page that has keys already. */
  page(page: number): Float64Array;
};

/** What becomes of a page: `stats` are its heads from `slot` on, as far as they change. */
export type PageChange = {
  readonly page: number;
  readonly slot: number;
  readonly stats: Float64Array;
};

/** A run as it will be when some writes are stored, one after the other. */
export type RunDraft = {
  /** The ids of a write's keys, given those that the run has, -1 for the others: these get the next ids in their order. */
  idsOf(keys: readonly string[], found: ArrayLike<number>): Uint32Array;
  /** Adds the heads of a write, ten numbers for each of its keys. */
  add(keyIds: Uint32Array, heads: Float64Array, valueCount: number): void;
  /** All of it; nothing must be added any more. */
  finish(): FinishedDraft;
};

/** A draft that is complete. */
export type FinishedDraft = {
  readonly keyCount: number;
  readonly pointCount: number;
  readonly newKeys: readonly { readonly key: string; readonly keyId: number }[];
  readonly changes: readonly PageChange[];
  /** The changed pages as they will be. */
  readonly pages: ReadonlyMap<number, Float64Array>;
};

type Draft = { readonly stats: Float64Array; from: number; to: number };

/** A draft that begins with what is known; that itself is not changed. */
export function draftRun(known: KnownRun): RunDraft {
  const newIds = new Map<string, number>();
  const drafts = new Map<number, Draft>();
  let pointCount = known.pointCount;

  const draftOf = (page: number): Draft => {
    let draft = drafts.get(page);
    if (draft === undefined) {
      draft = { stats: new Float64Array(PAGE_NUMBERS), from: PAGE_NUMBERS, to: 0 };
      if (page * AGGREGATES_PER_PAGE < known.keyCount) draft.stats.set(known.page(page));
      drafts.set(page, draft);
    }
    return draft;
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
    add(keyIds, heads, valueCount) {
      pointCount += valueCount;
      let page = -1;
      let draft: Draft | undefined;
      for (let i = 0; i < keyIds.length; i++) {
        const id = keyIds[i]!;
        if (draft === undefined || aggregatePageOf(id) !== page) {
          page = aggregatePageOf(id);
          draft = draftOf(page);
        }
        const at = aggregateStartOf(id);
        mergeAggregate(draft.stats, at, heads, i * NUMBERS_PER_AGGREGATE);
        if (at < draft.from) draft.from = at;
        if (at >= draft.to) draft.to = at + NUMBERS_PER_AGGREGATE;
      }
    },
    finish() {
      const keyCount = known.keyCount + newIds.size;
      const pages = new Map<number, Float64Array>();
      const changes: PageChange[] = [];
      for (const [page, { stats, from, to }] of drafts) {
        const length = Math.min(PAGE_NUMBERS, (keyCount - page * AGGREGATES_PER_PAGE) * NUMBERS_PER_AGGREGATE);
        pages.set(page, length < PAGE_NUMBERS ? stats.slice(0, length) : stats);
        changes.push({ page, slot: from / NUMBERS_PER_AGGREGATE, stats: stats.subarray(from, to) });
      }
      const newKeys = Array.from(newIds, ([key, keyId]) => ({ key, keyId }));
      return { keyCount, pointCount, newKeys, changes, pages };
    },
  };
}
