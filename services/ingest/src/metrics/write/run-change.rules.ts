import {
  aggregatePageOf,
  AGGREGATES_PER_PAGE,
  aggregateStartOf,
  mergeAggregate,
  mergeNonFinite,
  nonFiniteStartOf,
  NUMBERS_PER_AGGREGATE,
  NUMBERS_PER_NON_FINITE,
  AGGREGATE_NUMBERS,
  type AggregateNumbers,
} from "@tidemark/codecs/metrics";

const PAGE_NUMBERS = AGGREGATES_PER_PAGE * NUMBERS_PER_AGGREGATE;
const PAGE_NON_FINITE = AGGREGATES_PER_PAGE * NUMBERS_PER_NON_FINITE;
/** The stored state of a run's metrics that a write of some keys needs. */
export type KnownRun = {
  readonly keyCount: number;
  readonly pointCount: number;
  /** Returns a page that already has keys. */
  page(page: number): AggregateNumbers;
};

/**
 * How a page changes: `numbers` are its aggregates from `slot` on, from the first that changes to the last. `nonFinite` are the numbers of all its keys, null
 * where they do not change.
 */
export type PageChange = {
  readonly page: number;
  readonly slot: number;
  readonly numbers: Float64Array;
  readonly nonFinite: Float64Array | null;
};

/** What some writes, one after another, change in a run. */
type RunChange = {
  /** Returns the ids of a write's keys. `found` holds the ids that the run has, -1 for the other keys, which get the next ids in their order. */
  idsOf(keys: readonly string[], found: ArrayLike<number>): Uint32Array;
  /** Adds the aggregates of a write. */
  add(keyIds: Uint32Array, aggregates: AggregateNumbers, valueCount: number): void;
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
  readonly pages: ReadonlyMap<number, AggregateNumbers>;
};

type ChangedPage = {
  readonly numbers: Float64Array;
  from: number;
  to: number;
  /** The numbers of the page before, until they change. */
  nonFinite: Float64Array | null;
  isNonFiniteChanged: boolean;
};

/** Begins with the known state of the run, and does not change that state. */
export function createRunChange(known: KnownRun): RunChange {
  const newIds = new Map<string, number>();
  const changed = new Map<number, ChangedPage>();
  let pointCount = known.pointCount;

  const pageOf = (index: number): ChangedPage => {
    let page = changed.get(index);
    if (page === undefined) {
      page = {
        numbers: new Float64Array(PAGE_NUMBERS),
        from: PAGE_NUMBERS,
        to: 0,
        nonFinite: null,
        isNonFiniteChanged: false,
      };
      if (index * AGGREGATES_PER_PAGE < known.keyCount) {
        const before = known.page(index);
        page.numbers.set(before.numbers);
        page.nonFinite = before.nonFinite;
      }
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
    add(keyIds, { numbers, nonFinite }, valueCount) {
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
        mergeAggregate(page.numbers, at, numbers, i * NUMBERS_PER_AGGREGATE);
        if (nonFinite !== null && nonFinite[i * NUMBERS_PER_NON_FINITE]! > 0)
          mergeNonFinite(nonFiniteOf(page), nonFiniteStartOf(id), nonFinite, i * NUMBERS_PER_NON_FINITE);
        if (at < page.from) page.from = at;
        if (at >= page.to) page.to = at + NUMBERS_PER_AGGREGATE;
      }
    },
    finish() {
      const keyCount = known.keyCount + newIds.size;
      const pages = new Map<number, AggregateNumbers>();
      const pageChanges: PageChange[] = [];
      for (const [page, { numbers, from, to, nonFinite, isNonFiniteChanged }] of changed) {
        const keys = Math.min(AGGREGATES_PER_PAGE, keyCount - page * AGGREGATES_PER_PAGE);
        const ofKeys = isNonFiniteChanged ? nonFinite!.slice(0, keys * NUMBERS_PER_NON_FINITE) : nonFinite;
        pages.set(page, {
          numbers: keys < AGGREGATES_PER_PAGE ? numbers.slice(0, keys * NUMBERS_PER_AGGREGATE) : numbers,
          nonFinite: ofKeys,
        });
        pageChanges.push({
          page,
          slot: from / NUMBERS_PER_AGGREGATE,
          numbers: numbers.subarray(from, to),
          nonFinite: isNonFiniteChanged ? ofKeys : null,
        });
      }
      const newKeys = Array.from(newIds, ([key, keyId]) => ({ key, keyId }));
      return { keyCount, pointCount, newKeys, pageChanges, pages };
    },
  };
}

/** Returns the numbers of a page of values that are not finite, to be changed. */
function nonFiniteOf(page: ChangedPage): Float64Array {
  if (!page.isNonFiniteChanged) {
    const numbers = new Float64Array(PAGE_NON_FINITE);
    if (page.nonFinite !== null) numbers.set(page.nonFinite);
    page.nonFinite = numbers;
    page.isNonFiniteChanged = true;
  }
  return page.nonFinite!;
}

/** Which values of a metric key writes keep exact: the best, the latest, or both. */
export type SortedBy = { readonly best: boolean; readonly latest: boolean };

/** The sort keys of an organization: every write keeps their values to sort by exact. */
export type SortKeys = {
  /** A write that shows another version than the stored one is not stored. */
  readonly version: number;
  readonly keys: ReadonlyMap<string, SortedBy>;
};

/** A change of the values to sort by of a run's key. A value that does not change, that no list is sorted by, or that the key does not have is NaN. */
export type SortChange = {
  readonly key: string;
  readonly keyId: number;
  readonly minimize: boolean;
  /** Whether the run did not have the key. */
  readonly isNew: boolean;
  /** More is better: negative where less is better. */
  readonly best: number;
  readonly latest: number;
};

/** A sort key that a write to a run takes into account. */
export type WrittenSortKey = {
  readonly key: string;
  readonly keyId: number;
  readonly minimize: boolean;
  readonly by: SortedBy;
};

/** The aggregates of a run before and after some writes. */
type AggregatesChanged = {
  /** Keys with lower ids were there before. */
  readonly keyCountBefore: number;
  readonly before: (page: number) => AggregateNumbers;
  readonly after: (page: number) => AggregateNumbers;
};

const [MIN, MAX, LATEST] = (["min", "max", "latest"] as const).map((name) => AGGREGATE_NUMBERS.indexOf(name)) as [
  number,
  number,
  number,
];

/** Returns the changed values to sort by, which include those of new keys. */
export function sortChangesOf(written: Iterable<WrittenSortKey>, aggregates: AggregatesChanged): SortChange[] {
  const changes: SortChange[] = [];
  for (const { key, keyId, minimize, by } of written) {
    const page = aggregatePageOf(keyId);
    const at = aggregateStartOf(keyId);
    const valuesOf = ({ numbers }: AggregateNumbers) => ({
      best: minimize ? -numbers[at + MIN]! : numbers[at + MAX]!,
      latest: numbers[at + LATEST]!,
    });
    const isNew = keyId >= aggregates.keyCountBefore;
    const before = isNew ? undefined : valuesOf(aggregates.before(page));
    const after = valuesOf(aggregates.after(page));
    const best = by.best && after.best !== before?.best ? after.best : Number.NaN;
    const latest = by.latest && after.latest !== before?.latest ? after.latest : Number.NaN;
    if (isNew || !Number.isNaN(best) || !Number.isNaN(latest))
      changes.push({ key, keyId, minimize, isNew, best, latest });
  }
  return changes;
}
