import type { Tx } from "@tidemark/pg";
import {
  readAccountUse,
  readArtifactsUse,
  readImportsUse,
  readIngestUse,
  readRunsUse,
  readStoredContents,
  readTraceUse,
} from "./numbers.sql.ts";
import { metadataBytes, storageBytes, storageByKind } from "./storage.rules.ts";

/** The numbers of an organization in all services, at one moment. */
export type Numbers = Awaited<ReturnType<typeof readNumbers>>;

/** Reads the numbers of an organization in all services. The storage quota uses the same bytes. */
export async function readNumbers(tx: Tx, orgId: string) {
  const runs = await readRunsUse(tx, orgId);
  const ingest = await readIngestUse(tx, orgId);
  const traces = await readTraceUse(tx, orgId);
  const artifacts = await readArtifactsUse(tx, orgId);
  const { stagedBytes } = await readImportsUse(tx, orgId);
  const account = await readAccountUse(tx, orgId);
  const contents = await readStoredContents(tx, orgId);
  const rows = {
    projects: runs.projects,
    runs: runs.runs,
    series: ingest.series,
    artifacts: artifacts.artifacts,
    keys: account.keys,
    seats: account.seats,
  };
  const byKind = storageByKind({ ...artifacts, rows, points: ingest.points, stagedBytes, contents });
  return {
    runs,
    ingest,
    traces,
    artifacts,
    account,
    stagedBytes,
    estimatedBytes: metadataBytes(rows),
    byKind,
    storageBytes: storageBytes(byKind),
  };
}
