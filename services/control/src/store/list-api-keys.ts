import { sql, type Tx } from "@tidemark/pg";
import type { ApiKeyRow } from "../domain/records.ts";
import { apiKeyColumns } from "./columns.ts";

const statement = sql(
  "control_list_api_keys",
  `SELECT ${apiKeyColumns} FROM control.api_keys WHERE org_id = $1
   ORDER BY created_at DESC, id LIMIT $2 OFFSET $3`,
);

/** An organization's keys, newest first, revoked ones included. */
export function listApiKeys(tx: Tx, orgId: string, page: { limit: number; offset: number }): Promise<ApiKeyRow[]> {
  return tx.rows(statement, [orgId, page.limit, page.offset]);
}
