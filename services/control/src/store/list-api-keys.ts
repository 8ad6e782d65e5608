import { sql, type Tx } from "@tidemark/pg";
import { apiKeyColumns, type ApiKeyRow } from "./rows-keys.ts";

const listApiKeysSql = sql(
  "control_list_api_keys",
  `SELECT ${apiKeyColumns} FROM control.api_keys WHERE org_id = $1
   ORDER BY created_at DESC, id LIMIT $2 OFFSET $3`,
);

/** An organization's keys, newest first, revoked ones included. */
export function listApiKeyRows(tx: Tx, orgId: string, page: { limit: number; offset: number }): Promise<ApiKeyRow[]> {
  return tx.rows(listApiKeysSql, [orgId, page.limit, page.offset]);
}
