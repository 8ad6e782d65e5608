import { POINT_BYTES, ROW_BYTES, storageKinds, type StorageBytes, type StorageKind } from "@tidemark/limits";

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
