import {
  aggregatePageOf,
  AGGREGATES_PER_PAGE,
  aggregateStartOf,
  mergeAggregate,
  NUMBERS_PER_AGGREGATE,
} from "@tidemark/metric-codec";

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

/** The state of a run after some writes are stored, one after another. */
export type RunDraft = {
  /** Returns the ids of a write's keys. `found` holds the ids that the run has, -1 for the other keys, which get the next ids in their order. */
  idsOf(keys: readonly string[], found: ArrayLike<number>): Uint32Array;
  /** Adds the aggregates of a write, ten numbers for each of its keys. */
  add(keyIds: Uint32Array, aggregates: Float64Array, valueCount: number): void;
  /** Returns the complete draft. Nothing may be added afterwards. */
  finish(): FinishedDraft;
};

/** A complete draft. */
export type FinishedDraft = {
  readonly keyCount: number;
  readonly pointCount: number;
  readonly newKeys: readonly { readonly key: string; readonly keyId: number }[];
  readonly changes: readonly PageChange[];
  /** The changed pages in their new state. */
  readonly pages: ReadonlyMap<number, Float64Array>;
};

type PageDraft = { readonly numbers: Float64Array; from: number; to: number };

/** Creates a draft that begins with the known state of the run, and does not change that state. */
export function draftRun(known: KnownRun): RunDraft {
  const newIds = new Map<string, number>();
  const drafts = new Map<number, PageDraft>();
  let pointCount = known.pointCount;

  const draftOf = (page: number): PageDraft => {
    let draft = drafts.get(page);
    if (draft === undefined) {
      draft = { numbers: new Float64Array(PAGE_NUMBERS), from: PAGE_NUMBERS, to: 0 };
      if (page * AGGREGATES_PER_PAGE < known.keyCount) draft.numbers.set(known.page(page));
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
    add(keyIds, aggregates, valueCount) {
      pointCount += valueCount;
      let page = -1;
      let draft: PageDraft | undefined;
      for (let i = 0; i < keyIds.length; i++) {
        const id = keyIds[i]!;
        if (draft === undefined || aggregatePageOf(id) !== page) {
          page = aggregatePageOf(id);
          draft = draftOf(page);
        }
        const at = aggregateStartOf(id);
        mergeAggregate(draft.numbers, at, aggregates, i * NUMBERS_PER_AGGREGATE);
        if (at < draft.from) draft.from = at;
        if (at >= draft.to) draft.to = at + NUMBERS_PER_AGGREGATE;
      }
    },
    finish() {
      const keyCount = known.keyCount + newIds.size;
      const pages = new Map<number, Float64Array>();
      const changes: PageChange[] = [];
      for (const [page, { numbers, from, to }] of drafts) {
        const length = Math.min(PAGE_NUMBERS, (keyCount - page * AGGREGATES_PER_PAGE) * NUMBERS_PER_AGGREGATE);
        pages.set(page, length < PAGE_NUMBERS ? numbers.slice(0, length) : numbers);
        changes.push({ page, slot: from / NUMBERS_PER_AGGREGATE, numbers: numbers.subarray(from, to) });
      }
      const newKeys = Array.from(newIds, ([key, keyId]) => ({ key, keyId }));
      return { keyCount, pointCount, newKeys, changes, pages };
    },
  };
}
