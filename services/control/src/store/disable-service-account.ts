import { sql, type Tx } from "@tidemark/pg";
import { serviceAccountColumns, type ServiceAccountRow } from "./rows-keys.ts";

const disableServiceAccountSql = sql(
  "control_disable_service_account",
  `WITH keys AS (
     UPDATE control.api_keys SET revoked_at = coalesce(revoked_at, $3), changed_xid = pg_current_xact_id()
     WHERE org_id = $1 AND service_account_id = $2
   )
   UPDATE control.service_accounts SET disabled_at = coalesce(disabled_at, $3)
   WHERE org_id = $1 AND id = $2
   RETURNING ${serviceAccountColumns}`,
);

/** Ends a service account and its key. `undefined` when there is no such account. */
export function disableServiceAccountRow(
  tx: Tx,
  orgId: string,
  id: string,
  now: Date,
): Promise<ServiceAccountRow | undefined> {
  return tx.one(disableServiceAccountSql, [orgId, id, now.toISOString()]);
}
