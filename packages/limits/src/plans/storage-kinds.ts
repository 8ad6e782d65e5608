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
