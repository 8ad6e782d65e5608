import { sql, type Tx } from "@tidemark/pg";
import type { Times } from "../reports/archived-reports.sql.ts";
import { viewColumns, type ViewContent, type ViewRow } from "./views.sql.ts";

/** Views have at most 64 KiB each. */
const VIEWS_TOGETHER = 50;

const listViews = sql(
  "reports_export_views",
  `SELECT ${viewColumns} FROM reports.views v
   WHERE v.org_id = $1 AND v.owner_user_id = $2 AND v.deleted_at IS NULL
   ORDER BY v.updated_at DESC, v.name, v.id LIMIT ${VIEWS_TOGETHER} OFFSET $3::bigint`,
);

/** Reads the views of a user, the last changed ones first. A user has at most some hundreds, so pages use offsets. */
export async function* readViewsOfUser(
  tx: Tx,
  orgId: string,
  userId: string,
): AsyncGenerator<ViewRow, void, undefined> {
  for (let offset = 0; ; offset += VIEWS_TOGETHER) {
    const rows = await tx.rows<ViewRow>(listViews, [orgId, userId, offset]);
    yield* rows;
    if (rows.length < VIEWS_TOGETHER) return;
  }
}

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
