import { POINT_BYTES, ROW_BYTES, storageKinds, type StorageBytes, type StorageKind } from "@tidemark/limits";

/** How many rows there are of each kind that counts for some bytes in addition to its contents. */
type RowCounts = Readonly<Record<keyof typeof ROW_BYTES, number>>;

/** The stored amounts: numbers of rows, the counts of the artifacts service, and the contents that owners of other rows count. */
type Stored = {
  readonly rows: RowCounts;
  /** Values of metrics and of ranks. */
  readonly points: number;
  readonly artifactBytes: number;
  readonly versionBytes: number;
  /** Of deleted versions, until their bytes are removed. */
  readonly pendingDeleteBytes: number;
  /** Of uploads that have begun, by their declared size. */
  readonly reservedBytes: number;
  /** Of imports that have not ended. */
  readonly stagedBytes: number;
  /** Bytes of `platform.stored_bytes` by kind. */
  readonly contents: Partial<StorageBytes>;
};

/** Returns the fixed bytes that rows count for, regardless of their contents (contract of the usage document). */
export function metadataBytes(counts: RowCounts): number {
  return (Object.keys(ROW_BYTES) as (keyof typeof ROW_BYTES)[]).reduce(
    (sum, row) => sum + ROW_BYTES[row] * counts[row],
    0,
  );
}

/** Returns the logical bytes of each kind; ADR 57 defines the kinds. A counter that drifted below 0 counts as 0. */
export function storageByKind(stored: Stored): StorageBytes {
  const { rows, contents } = stored;
  const fixed = (...of: readonly (keyof RowCounts)[]): number =>
    of.reduce((sum, row) => sum + ROW_BYTES[row] * rows[row], 0);
  const counted: Partial<StorageBytes> = {
    artifacts:
      stored.artifactBytes +
      stored.versionBytes +
      stored.pendingDeleteBytes +
      stored.reservedBytes +
      fixed("artifacts"),
    points: POINT_BYTES * stored.points + fixed("series"),
    documents: stored.stagedBytes + fixed("projects", "runs", "keys", "seats"),
  };
  const bytesOf = (kind: StorageKind): number => Math.max(0, (counted[kind] ?? 0) + (contents[kind] ?? 0));
  return Object.fromEntries(storageKinds.map((kind) => [kind, bytesOf(kind)])) as StorageBytes;
}

/** Returns the bytes that count against the quota of storage. */
export function storageBytes(byKind: StorageBytes): number {
  return storageKinds.reduce((sum, kind) => sum + byKind[kind], 0);
}

/** The amounts that single rows show: the bytes of each kind, and the rows that count for a fixed number of bytes. */
export type Amounts = Partial<StorageBytes> & {
  /** Values of metrics and of ranks. */
  readonly values?: number;
  readonly series?: number;
  /** Plain artifacts. */
  readonly artifact_rows?: number;
};

/** A kind whose counters differ from the rows. */
export type Drift = { readonly kind: StorageKind; readonly counted: number; readonly stored: number };

/** Returns the kinds in which counters and rows differ. Amounts that only counters know, such as fixed bytes of runs, are in neither. */
export function driftsOf(counted: Amounts, stored: Amounts): Drift[] {
  return storageKinds
    .map((kind) => ({ kind, counted: bytesOf(counted, kind), stored: bytesOf(stored, kind) }))
    .filter((drift) => drift.counted !== drift.stored);
}

function bytesOf(amounts: Amounts, kind: StorageKind): number {
  const { values = 0, series = 0, artifact_rows: rows = 0 } = amounts;
  const fixed: Partial<StorageBytes> = {
    points: POINT_BYTES * values + ROW_BYTES.series * series,
    artifacts: ROW_BYTES.artifacts * rows,
  };
  return (amounts[kind] ?? 0) + (fixed[kind] ?? 0);
}
