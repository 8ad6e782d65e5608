import { sql, type Tx } from "@tidemark/pg";
import type { StorageBytes, StorageKind } from "@tidemark/limits";

/** The data of an organization in `ingest`. A value of a rank counts as a point; series are pairs of run and metric key. */
export type IngestUse = { readonly monthPoints: number; readonly points: number; readonly series: number };

const ingestSql = sql(
  "usage_read_ingest",
  `SELECT u.month_points AS "monthPoints", u.points, u.series FROM ingest.usage_v1 u WHERE u.org_id = $1`,
);

/** Returns the numbers of an organization in `ingest`. */
export async function readIngestUse(tx: Tx, orgId: string): Promise<IngestUse> {
  return (await tx.one(ingestSql, [orgId])) ?? { monthPoints: 0, points: 0, series: 0 };
}

const tracesSql = sql(
  "usage_read_traces",
  `SELECT u.month_events AS "monthEvents" FROM traces.usage_v1 u WHERE u.org_id = $1`,
);

/** Returns the trace events that an organization has written in this month. */
export async function readTraceUse(tx: Tx, orgId: string): Promise<{ readonly monthEvents: number }> {
  return (await tx.one(tracesSql, [orgId])) ?? { monthEvents: 0 };
}

/** The data of an organization in `artifacts`. */
export type ArtifactsUse = {
  readonly artifacts: number;
  /** Plain artifacts that arrived without a size. */
  readonly unknownSizes: number;
  readonly collections: number;
  readonly versionsActive: number;
  readonly versionsPendingDelete: number;
  readonly artifactBytes: number;
  readonly versionBytes: number;
  readonly pendingDeleteBytes: number;
  readonly reservedBytes: number;
};

const artifactsSql = sql(
  "usage_read_artifacts",
  `SELECT u.artifacts, u.unknown_sizes AS "unknownSizes", u.collections, u.versions_active AS "versionsActive",
          u.versions_pending_delete AS "versionsPendingDelete", u.artifact_bytes AS "artifactBytes",
          u.version_bytes AS "versionBytes", u.pending_delete_bytes AS "pendingDeleteBytes", u.reserved_bytes AS "reservedBytes"
   FROM artifacts.usage_v1 u WHERE u.org_id = $1`,
);

const noArtifacts: ArtifactsUse = {
  artifacts: 0,
  unknownSizes: 0,
  collections: 0,
  versionsActive: 0,
  versionsPendingDelete: 0,
  artifactBytes: 0,
  versionBytes: 0,
  pendingDeleteBytes: 0,
  reservedBytes: 0,
};

/** Returns what `artifacts` has of an organization. */
export async function readArtifactsUse(tx: Tx, orgId: string): Promise<ArtifactsUse> {
  return (await tx.one(artifactsSql, [orgId])) ?? noArtifacts;
}

const runsSql = sql("usage_read_runs", "SELECT u.projects, u.runs FROM runs.usage_v1 u WHERE u.org_id = $1");

/** Returns the projects and runs of an organization. */
export async function readRunsUse(
  tx: Tx,
  orgId: string,
): Promise<{ readonly projects: number; readonly runs: number }> {
  return (await tx.one(runsSql, [orgId])) ?? { projects: 0, runs: 0 };
}

const importsSql = sql(
  "usage_read_imports",
  `SELECT u.staged_bytes AS "stagedBytes" FROM imports.usage_v1 u WHERE u.org_id = $1`,
);

/** Returns the bytes of imports that have not ended. */
export async function readImportsUse(tx: Tx, orgId: string): Promise<{ readonly stagedBytes: number }> {
  return (await tx.one(importsSql, [orgId])) ?? { stagedBytes: 0 };
}

/** The data of an organization in `control`: people with open invitations, and live keys. */
export type AccountUse = { readonly slug: string; readonly seats: number; readonly keys: number };

const accountSql = sql(
  "usage_read_account",
  "SELECT u.slug, u.seats, u.keys FROM control.usage_v1 u WHERE u.org_id = $1",
);

/** Returns the numbers of an organization in `control`. */
export async function readAccountUse(tx: Tx, orgId: string): Promise<AccountUse> {
  return (await tx.one(accountSql, [orgId])) ?? { slug: "", seats: 0, keys: 0 };
}

const contentsSql = sql(
  "usage_read_stored_contents",
  "SELECT s.kind, sum(s.bytes)::bigint AS bytes FROM platform.stored_bytes s WHERE s.org_id = $1 GROUP BY s.kind",
);

/** Returns the bytes of contents that an organization stores, as the writing services count them. */
export async function readStoredContents(tx: Tx, orgId: string): Promise<Partial<StorageBytes>> {
  const rows = await tx.rows<{ kind: StorageKind; bytes: number }>(contentsSql, [orgId]);
  return Object.fromEntries(rows.map(({ kind, bytes }) => [kind, bytes]));
}

const requestsSql = sql(
  "usage_read_month_requests",
  "SELECT m.requests FROM usage.month_requests m WHERE m.org_id = $1 AND m.month = $2",
);

/** Returns how many requests an organization has made in the month of a day, as far as gateways have reported them. */
export async function readRequests(tx: Tx, orgId: string, firstDay: string): Promise<number> {
  return (await tx.one<{ requests: number }>(requestsSql, [orgId, firstDay]))?.requests ?? 0;
}
