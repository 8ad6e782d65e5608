import { AGGREGATE_NUMBERS, aggregatePageOf, aggregateStartOf } from "@tidemark/codecs/metrics";

/** Which values of a metric key writes keep exact: the best, the latest, or both. */
export type SortedBy = { readonly best: boolean; readonly latest: boolean };

/** The sort keys of an organization: every write keeps their values to sort by exact. */
export type SortKeys = {
  /** A write that shows another version than the stored one is not stored. */
  readonly version: number;
  readonly keys: ReadonlyMap<string, SortedBy>;
};

/** A change of the values to sort by of a run's key. A value that does not change, or that no list is sorted by, is NaN. */
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
export type AggregatesChanged = {
  /** Keys with lower ids were there before. */
  readonly keyCountBefore: number;
  readonly before: (page: number) => Float64Array;
  readonly after: (page: number) => Float64Array;
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
    const valuesOf = (numbers: Float64Array) => ({
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
