import { sql, type Tx } from "@tidemark/pg";

const listVersions = sql("ingest_list_metric_versions", "SELECT version FROM ingest.metric_versions($1, $2)");

/** The versions of some runs, in their order: a number that rises with every write of metrics, 0 before the first. One round trip. */
export async function listMetricVersions(tx: Tx, orgId: string, runIds: readonly string[]): Promise<number[]> {
  const rows = await tx.rows<{ version: number }>(listVersions, [orgId, runIds]);
  return rows.map(({ version }) => version);
}
