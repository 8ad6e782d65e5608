import { sql, type Tx } from "@tidemark/pg";
import type { RunControlRow } from "../domain/known-run.ts";
import type { ServerSnapshot } from "../domain/server-snapshot.ts";

const readRunningPageSql = sql(
  "control_read_running_page",
  `SELECT snapshot, org_id, id, project_id, status, stop_state, stop_request_id, stop_requested_at, stop_acknowledged_at
   FROM runs.running_page_v1($1, $2, $3)`,
);

/** Behind which run a page begins. */
export type RunPlace = { readonly orgId: string; readonly id: string };

type Row = { readonly snapshot: ServerSnapshot } & (RunControlRow | { readonly id: null });

/** Running runs of all organizations by organization and id, at most `limit` after `after`, and the snapshot that saw them. */
export async function readRunningPage(
  tx: Tx,
  page: { readonly after: RunPlace; readonly limit: number },
): Promise<{ snapshot: ServerSnapshot; rows: RunControlRow[] }> {
  const found = await tx.rows<Row>(readRunningPageSql, [page.after.orgId, page.after.id, page.limit]);
  return { snapshot: found[0]!.snapshot, rows: found.filter((row) => row.id !== null) };
}
