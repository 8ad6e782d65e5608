import { sql, type Tx } from "@tidemark/pg";
import type { RunControlRow } from "../domain/known-run.ts";
import type { ServerSnapshot } from "../domain/server-snapshot.ts";

const readChangedPageSql = sql(
  "control_read_changed_page",
  `SELECT snapshot, changed_xid, org_id, id, project_id, status, stop_state, stop_request_id, stop_requested_at,
          stop_acknowledged_at
   FROM runs.changed_page_v1($1, $2, $3, $4)`,
);

/** Behind which change a page begins. */
export type ChangePlace = { readonly xid: string; readonly id: string };

type Row = { readonly snapshot: ServerSnapshot } & (
  | (RunControlRow & { readonly changed_xid: string })
  | { readonly id: null }
);

/**
 * Runs whose last change `since` did not see, at most `limit` after `after`, and the snapshot that
 * saw them; `last` is the place of the last one.
 */
export async function readChangedPage(
  tx: Tx,
  page: { readonly since: ServerSnapshot; readonly after: ChangePlace; readonly limit: number },
): Promise<{ snapshot: ServerSnapshot; rows: RunControlRow[]; last: ChangePlace | undefined }> {
  const { since, after, limit } = page;
  const found = await tx.rows<Row>(readChangedPageSql, [since, after.xid, after.id, limit]);
  const rows = found.filter((row) => row.id !== null);
  const last = rows.at(-1);
  return {
    snapshot: found[0]!.snapshot,
    rows,
    last: last === undefined ? undefined : { xid: last.changed_xid, id: last.id },
  };
}
