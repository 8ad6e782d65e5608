import { sql, type Db } from "@tidemark/pg";
import { textArray } from "../writes/binary-array.sql.ts";
import type { RunOfOrg } from "./list-waiting-metric-rows.ts";

const findIds = sql("ingest_metric_key_ids", `SELECT key, key_id AS "keyId" FROM ingest.metric_key_ids($1, $2, $3)`);

/** The ids of those of the keys that the run has. `db` runs as the worker. */
export async function findMetricKeyIds(
  db: Db,
  { orgId, runId }: RunOfOrg,
  keys: readonly string[],
): Promise<Map<string, number>> {
  const rows = await db.rows<{ key: string; keyId: number }>(findIds, [orgId, runId, textArray(keys)]);
  return new Map(rows.map(({ key, keyId }) => [key, keyId]));
}
