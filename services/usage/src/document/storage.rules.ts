import type { ArtifactsUse } from "./numbers.sql.ts";

/** Bytes that one row of each kind is taken for (contract of the usage document). */
const BYTES_EACH = { projects: 512, runs: 1024, series: 256, artifacts: 512, keys: 512, seats: 256 } as const;

/** Returns the estimated bytes of everything besides artifacts, from how many rows there are of each kind. */
export function metadataBytes(counts: Readonly<Record<keyof typeof BYTES_EACH, number>>): number {
  return Object.entries(BYTES_EACH).reduce(
    (sum, [kind, bytes]) => sum + bytes * counts[kind as keyof typeof counts],
    0,
  );
}

/**
 * Returns the bytes that count against the quota of storage: artifacts exactly, versions that are deleted until their bytes are gone, uploads that have
 * begun as large as they said, staged imports, and an estimate for the rest.
 */
export function storageBytes(
  of: Pick<ArtifactsUse, "artifactBytes" | "versionBytes" | "pendingDeleteBytes" | "reservedBytes"> & {
    readonly stagedBytes: number;
    readonly estimatedBytes: number;
  },
): number {
  const versions = of.versionBytes + of.pendingDeleteBytes + of.reservedBytes;
  return of.artifactBytes + versions + of.stagedBytes + of.estimatedBytes;
}
