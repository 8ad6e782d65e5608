import { sql, type Tx } from "@tidemark/pg";
import type { Times } from "../reports/restored-reports.sql.ts";
import type { ViewContent } from "./views.sql.ts";

const insertViewSql = sql(
  "reports_restore_view",
  `INSERT INTO reports.views (org_id, id, owner_user_id, name, project, payload, visibility, created_at, updated_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (org_id, id) DO NOTHING`,
);

/** Inserts a view of a user unless its id is taken. Returns whether it did. */
export async function insertRestoredView(
  tx: Tx,
  orgId: string,
  userId: string,
  { id, name, project, payload, visibility, createdAt, updatedAt }: ViewContent & Times & { readonly id: string },
): Promise<boolean> {
  const values = [orgId, id, userId, name, project, payload, visibility, createdAt, updatedAt];
  return (await tx.count(insertViewSql, values)) === 1;
}
