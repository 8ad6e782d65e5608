import { sql, type Tx } from "@tidemark/pg";
import type { Retention } from "./retention.rules.ts";

const setRetentionSql = sql(
  "artifacts_set_retention",
  `UPDATE artifacts.versions SET retention_mode = $3, ttl_days = $4, audit_reason = $5,
     expires_at = created_at + $4::integer * interval '1 day'
   WHERE org_id = $1 AND id = $2`,
);

/** Changes how long a version is kept, counted from its creation, and notes the reason. */
export async function writeRetention(
  tx: Tx,
  orgId: string,
  versionId: string,
  { mode, ttlDays }: Retention,
  reason: string,
): Promise<void> {
  await tx.rows(setRetentionSql, [orgId, versionId, mode, ttlDays ?? null, reason]);
}
