import { sql, type Tx } from "@tidemark/pg";
import type { RunControlRow, ServerSnapshot } from "./live-runs.rules.ts";

const readRunningPageSql = sql(
  "control_read_running_page",
  `SELECT snapshot, org_id, id, project_id, status, stop_state, stop_request_id, stop_requested_at, stop_acknowledged_at
   FROM runs.running_page_v1($1, $2, $3)`,
);

/** The run after which a page begins. */
type RunPosition = { readonly orgId: string; readonly id: string };

/** The first row of a page has the snapshot, and no run. */
type FeedRow<Run> = { readonly snapshot: ServerSnapshot } & (Run | { readonly id: null });

/** Returns running runs of all organizations by organization and id, at most `limit` after `after`, and the snapshot that saw them. */
export async function readRunningPage(
  tx: Tx,
  page: { readonly after: RunPosition; readonly limit: number },
): Promise<{ snapshot: ServerSnapshot; rows: RunControlRow[] }> {
  const found = await tx.rows<FeedRow<RunControlRow>>(readRunningPageSql, [
    page.after.orgId,
    page.after.id,
    page.limit,
  ]);
  return { snapshot: found[0]!.snapshot, rows: found.filter((row) => row.id !== null) };
}

const readChangedPageSql = sql(
  "control_read_changed_page",
  `SELECT snapshot, changed_xid, org_id, id, project_id, status, stop_state, stop_request_id, stop_requested_at,
          stop_acknowledged_at
   FROM runs.changed_page_v1($1, $2, $3, $4)`,
);

/** The change after which a page begins. */
type ChangePosition = { readonly xid: string; readonly id: string };

/**
 * Returns runs whose last change `since` did not see, at most `limit` after `after`, and the snapshot that saw them;
 * `last` is the position of the last one.
 */
export async function readChangedPage(
  tx: Tx,
  page: { readonly since: ServerSnapshot; readonly after: ChangePosition; readonly limit: number },
): Promise<{ snapshot: ServerSnapshot; rows: RunControlRow[]; last: ChangePosition | undefined }> {
  const { since, after, limit } = page;
  const found = await tx.rows<FeedRow<RunControlRow & { readonly changed_xid: string }>>(readChangedPageSql, [
    since,
    after.xid,
    after.id,
    limit,
  ]);
  const rows = found.filter((row) => row.id !== null);
  const last = rows.at(-1);
  return {
    snapshot: found[0]!.snapshot,
    rows,
    last: last === undefined ? undefined : { xid: last.changed_xid, id: last.id },
  };
}
