import { sql, type Tx } from "@tidemark/pg";

const findRuns = sql(
  "traces_find_run_refs",
  `SELECT id, project_id AS "projectId" FROM runs.run_refs_v1 WHERE org_id = $1 AND id = ANY ($2::uuid[])`,
);

/** Returns the projects of the runs that the organization has. */
export function findRunRefs(
  tx: Tx,
  orgId: string,
  runIds: readonly string[],
): Promise<{ id: string; projectId: string }[]> {
  return tx.rows(findRuns, [orgId, runIds]);
}

const readChanges = sql(
  "traces_read_run_changes",
  'SELECT snapshot, project_id AS "projectId", run_id AS "runId" FROM runs.visibility_changes_v1($1)',
);

/** A run, or all of a project, that was hidden or shown again. The first row has the snapshot and no change. */
type RunChangeRow = {
  readonly snapshot: string | null;
  readonly projectId: string | null;
  readonly runId: string | null;
};

/** Returns which runs, of any organizations, were hidden or shown again since a snapshot, and the snapshot to continue from. */
export function readRunChanges(tx: Tx, since: string | undefined): Promise<RunChangeRow[]> {
  return tx.rows(readChanges, [since ?? null]);
}
