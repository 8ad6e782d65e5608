import { sql, type Tx } from "@tidemark/pg";
import { apiKeyColumns, type ApiKeyRow } from "./rows-keys.ts";

const revokeApiKeySql = sql(
  "control_revoke_api_key",
  `UPDATE control.api_keys SET revoked_at = coalesce(revoked_at, $3), changed_xid = pg_current_xact_id()
   WHERE org_id = $1 AND id = $2
   RETURNING ${apiKeyColumns}`,
);

/** Ends a key; one that has ended keeps its time. `undefined` when there is no such key. */
export function revokeApiKeyRow(tx: Tx, orgId: string, id: string, now: Date): Promise<ApiKeyRow | undefined> {
  return tx.one(revokeApiKeySql, [orgId, id, now.toISOString()]);
}
