import { sql, type Db, type Tx } from "@tidemark/pg";
import type { StorageKind } from "@tidemark/limits";
import { readArtifactsUse, readIngestUse, readStoredContents } from "../document/numbers.sql.ts";
import type { Amounts } from "../document/storage.rules.ts";

const organizationsSql = sql(
  "usage_list_organizations",
  `SELECT o.org_id AS "orgId", o.slug FROM control.organization_refs_v1 o WHERE o.org_id > $1 ORDER BY o.org_id LIMIT $2`,
);

/** Returns the organizations after an id, in the order of their ids. `workerDb` runs as the worker. */
export function listOrganizations(
  workerDb: Db,
  afterId: string,
  rowsMax: number,
): Promise<{ readonly orgId: string; readonly slug: string }[]> {
  return workerDb.rows(organizationsSql, [afterId, rowsMax]);
}

const seeDeletedSql = sql("usage_see_deleted", "SELECT set_config('app.sees_deleted', 'on', true)");
const storedSql = sql(
  "usage_recount_rows",
  `SELECT r.kind, sum(r.amount)::bigint AS amount FROM (
     SELECT kind, amount FROM ingest.stored_rows_v1 WHERE org_id = $1
     UNION ALL SELECT kind, amount FROM runs.stored_rows_v1 WHERE org_id = $1
     UNION ALL SELECT kind, amount FROM traces.stored_rows_v1 WHERE org_id = $1
     UNION ALL SELECT kind, amount FROM reports.stored_rows_v1 WHERE org_id = $1
     UNION ALL SELECT kind, amount FROM artifacts.stored_rows_v1 WHERE org_id = $1
   ) r GROUP BY r.kind`,
);

/** Reads every row that an organization stores, deleted ones included, and returns the amounts that they count for. */
export async function recountRows(tx: Tx, orgId: string): Promise<Amounts> {
  await tx.rows(seeDeletedSql, []);
  const rows = await tx.rows<{ kind: keyof Amounts; amount: number }>(storedSql, [orgId]);
  return Object.fromEntries(rows.map(({ kind, amount }) => [kind, amount]));
}

/** Returns the same amounts from the counters of an organization. */
export async function readCounters(tx: Tx, orgId: string): Promise<Amounts> {
  const contents = await readStoredContents(tx, orgId);
  const { points, series } = await readIngestUse(tx, orgId);
  const use = await readArtifactsUse(tx, orgId);
  const artifacts = use.artifactBytes + use.versionBytes + use.pendingDeleteBytes + use.reservedBytes;
  return {
    ...contents,
    artifacts: (contents.artifacts ?? 0) + artifacts,
    artifact_rows: use.artifacts,
    values: points,
    series,
  };
}

const addSql = sql("usage_add_stored", "SELECT platform.add_stored($1, $2, $3)");

/** Adds to the bytes of a kind that an organization stores. */
export async function addStored(tx: Tx, orgId: string, kind: StorageKind, bytes: number): Promise<void> {
  await tx.rows(addSql, [orgId, kind, bytes]);
}
