import type { Tx } from "@tidemark/pg";
import {
  readAccountUse,
  readArtifactsUse,
  readImportsUse,
  readIngestUse,
  readRunsUse,
  readTraceUse,
} from "./numbers.sql.ts";
import { metadataBytes, storageBytes } from "./storage.rules.ts";

/** What an organization has in all services, at one moment. */
export type Numbers = Awaited<ReturnType<typeof readNumbers>>;

/** Reads what an organization has in all services. Bytes are those of the quota of storage as well. */
export async function readNumbers(tx: Tx, orgId: string) {
  const runs = await readRunsUse(tx, orgId);
  const ingest = await readIngestUse(tx, orgId);
  const traces = await readTraceUse(tx, orgId);
  const artifacts = await readArtifactsUse(tx, orgId);
  const { stagedBytes } = await readImportsUse(tx, orgId);
  const account = await readAccountUse(tx, orgId);
  const estimatedBytes = metadataBytes({
    projects: runs.projects,
    runs: runs.runs,
    series: ingest.series,
    artifacts: artifacts.artifacts,
    keys: account.keys,
    seats: account.seats,
  });
  return {
    runs,
    ingest,
    traces,
    artifacts,
    account,
    stagedBytes,
    estimatedBytes,
    storageBytes: storageBytes({ ...artifacts, stagedBytes, estimatedBytes }),
  };
}
