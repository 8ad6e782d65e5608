import { sql, type Tx } from "@tidemark/pg";

const seeDeletedSql = sql("runs_see_deleted", "SELECT set_config('app.sees_deleted', 'on', true)");

/** Lets the rest of the transaction see deleted runs and projects along with the others. Nothing else in the code shows them. */
export async function seeDeleted(tx: Tx): Promise<void> {
  await tx.rows(seeDeletedSql, []);
}

type HiddenRow = {
  readonly id: string;
  readonly project_id: string;
  readonly status: string;
  readonly display_status: string;
};

const changed = "RETURNING r.id, r.project_id, r.status, r.display_status";

const hideSql = sql(
  "runs_hide",
  `UPDATE runs.runs r SET hidden = true WHERE r.org_id = $1 AND r.id = ANY ($2::uuid[]) AND NOT r.hidden ${changed}`,
);
const showSql = sql(
  "runs_show",
  `UPDATE runs.runs r SET hidden = false
   WHERE r.org_id = $1 AND r.id = ANY ($2::uuid[]) AND r.hidden AND r.deleted_at IS NULL ${changed}`,
);
const removeTextsSql = sql(
  "runs_remove_texts",
  "DELETE FROM runs.run_texts WHERE org_id = $1 AND run_id = ANY ($2::uuid[])",
);
const addTextsSql = sql(
  "runs_add_texts",
  `INSERT INTO runs.run_texts
   SELECT t.* FROM unnest($2::uuid[]) AS w (id)
   CROSS JOIN LATERAL (SELECT o.* FROM runs.runs o WHERE o.org_id = $1 AND o.id = w.id OFFSET 0) r
   CROSS JOIN LATERAL (SELECT o.name FROM runs.projects o WHERE o.org_id = $1 AND o.id = r.project_id OFFSET 0) p
   CROSS JOIN LATERAL runs.texts_of(ROW (r.*)::runs.runs, p.name) t`,
);

// $4 is 1 for runs that are shown and -1 for hidden ones; every run of the list belongs to project $2.
const countSql = sql(
  "runs_count_hidden",
  `UPDATE runs.projects p SET
     runs_running = p.runs_running + $4 * c.running, runs_finished = p.runs_finished + $4 * c.finished,
     runs_failed = p.runs_failed + $4 * c.failed, runs_stopping = p.runs_stopping + $4 * c.stopping,
     runs_finished_stopped = p.runs_finished_stopped + $4 * c.finished_stopped,
     runs_failed_stopped = p.runs_failed_stopped + $4 * c.failed_stopped,
     runs_deleted = p.runs_deleted - $4 * (c.running + c.finished + c.failed)
   FROM (
     SELECT count(*) FILTER (WHERE u.status = 'running') AS running, count(*) FILTER (WHERE u.status = 'finished') AS finished,
            count(*) FILTER (WHERE u.status = 'failed') AS failed,
            count(*) FILTER (WHERE u.status = 'running' AND u.shown <> u.status) AS stopping,
            count(*) FILTER (WHERE u.status = 'finished' AND u.shown <> u.status) AS finished_stopped,
            count(*) FILTER (WHERE u.status = 'failed' AND u.shown <> u.status) AS failed_stopped
     FROM unnest($3::text[], $5::text[]) AS u (status, shown)
   ) c
   WHERE p.org_id = $1 AND p.id = $2`,
);

async function count(tx: Tx, orgId: string, rows: readonly HiddenRow[], sign: 1 | -1): Promise<void> {
  await tx.count(countSql, [
    orgId,
    rows[0]!.project_id,
    rows.map(({ status }) => status),
    sign,
    rows.map(({ display_status: shown }) => shown),
  ]);
}

/**
 * Hides runs of one project from everything, searches and counters included. Returns how many were visible. The transaction sees
 * deleted rows.
 */
export async function hideRuns(tx: Tx, orgId: string, runIds: readonly string[]): Promise<number> {
  const rows = await tx.rows<HiddenRow>(hideSql, [orgId, runIds]);
  if (rows.length === 0) return 0;
  await tx.count(removeTextsSql, [orgId, rows.map(({ id }) => id)]);
  await count(tx, orgId, rows, -1);
  return rows.length;
}

/** Shows hidden runs of one project again, except those that were deleted themselves. Returns how many were hidden. The transaction sees deleted rows. */
export async function showRuns(tx: Tx, orgId: string, runIds: readonly string[]): Promise<number> {
  const rows = await tx.rows<HiddenRow>(showSql, [orgId, runIds]);
  if (rows.length === 0) return 0;
  await tx.count(addTextsSql, [orgId, rows.map(({ id }) => id)]);
  await count(tx, orgId, rows, 1);
  return rows.length;
}

const noteChangeSql = sql(
  "runs_note_visibility",
  "INSERT INTO runs.visibility_changes (org_id, project_id, run_id) VALUES ($1, $2, $3)",
);

/** Notifies the processes of other services that a run, or without one all runs of a project, were hidden or shown again. */
export async function noteVisibility(
  tx: Tx,
  change: { readonly orgId: string; readonly projectId: string; readonly runId: string | undefined },
): Promise<void> {
  await tx.count(noteChangeSql, [change.orgId, change.projectId, change.runId ?? null]);
}
