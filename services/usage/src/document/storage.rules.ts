import { ROW_BYTES } from "@tidemark/plans";

/** Returns the estimated bytes of everything besides artifacts, from how many rows there are of each kind. */
export function metadataBytes(counts: Readonly<Record<keyof typeof ROW_BYTES, number>>): number {
  return Object.entries(ROW_BYTES).reduce((sum, [kind, bytes]) => sum + bytes * counts[kind as keyof typeof counts], 0);
}

/**
 * Returns the bytes that count against the quota of storage: artifacts exactly, versions that are deleted until their bytes are gone, uploads that have
 * begun as large as they said, staged imports, and an estimate for the rest.
 */
export function storageBytes(of: {
  readonly artifactBytes: number;
  readonly versionBytes: number;
  readonly pendingDeleteBytes: number;
  readonly reservedBytes: number;
  readonly stagedBytes: number;
  readonly estimatedBytes: number;
}): number {
  const versions = of.versionBytes + of.pendingDeleteBytes + of.reservedBytes;
  return of.artifactBytes + versions + of.stagedBytes + of.estimatedBytes;
}
