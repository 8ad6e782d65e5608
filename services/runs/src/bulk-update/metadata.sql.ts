import { sql, type Tx } from "@tidemark/pg";
import { runOfId } from "../read/runs.sql.ts";

/** The metadata of a run, as canonical JSON. */
type MetadataRow = { readonly id: string; readonly metadata: string };

const listSql = sql(
  "runs_list_metadata",
  `SELECT r.id, r.metadata FROM unnest($2::uuid[]) AS asked (id) ${runOfId("asked.id")}`,
);

/** Returns the metadata of runs of the organization. */
export function listMetadata(tx: Tx, orgId: string, runIds: readonly string[]): Promise<MetadataRow[]> {
  return tx.rows(listSql, [orgId, runIds]);
}

const setSql = sql(
  "runs_set_metadata",
  `UPDATE runs.runs r SET metadata = w.metadata FROM unnest($2::uuid[], $3::text[]) AS w (id, metadata)
   WHERE r.org_id = $1 AND r.id = w.id AND r.id = ANY ($2::uuid[])`,
);

/** Replaces the metadata of runs that this transaction has locked. */
export async function setMetadata(tx: Tx, orgId: string, rows: readonly MetadataRow[]): Promise<void> {
  await tx.count(setSql, [orgId, rows.map(({ id }) => id), rows.map(({ metadata }) => metadata)]);
}
