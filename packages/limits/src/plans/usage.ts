/** The kinds of things whose logical bytes count against the quota of storage, in the order of the usage document. */
export const storageKinds = [
  "artifacts",
  "points",
  "logs",
  "attributes",
  "objects",
  "documents",
  "traces",
  "reports",
] as const;

/** A kind of stored data. */
export type StorageKind = (typeof storageKinds)[number];

/** Logical bytes of each kind. */
export type StorageBytes = Readonly<Record<StorageKind, number>>;

/** Logical bytes of a value of a metric, of ranks as well: a step and a value of eight bytes each. */
export const POINT_BYTES = 16;

/** Logical bytes of a console line without its message: its number and its time. */
export const LINE_BYTES = 16;

/** Bytes that one row of each kind counts for in the quota of storage: an estimate, the same for every organization (contract of the usage document). */
export const ROW_BYTES = {
  projects: 512,
  runs: 1024,
  series: 256,
  artifacts: 512,
  keys: 512,
  seats: 256,
} as const;

/** A calendar month in UTC, with which quotas start over. Days and months are ISO 8601 texts. */
export type Month = {
  /** YYYY-MM. */
  readonly name: string;
  /** The first day: YYYY-MM-DD. */
  readonly firstDay: string;
  readonly startsAt: Date;
  /** The first moment of the next month. */
  readonly endsAt: Date;
};

/** Returns the month of a moment. */
export function monthOf(now: Date): Month {
  const startsAt = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1));
  const endsAt = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));
  const firstDay = startsAt.toISOString().slice(0, 10);
  return { name: firstDay.slice(0, 7), firstDay, startsAt, endsAt };
}
