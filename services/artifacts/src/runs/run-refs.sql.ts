import { sql, type Tx } from "@tidemark/pg";

const findRuns = sql(
  "artifacts_find_run_refs",
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

/** Join that leaves out rows whose run, which the expression names, is deleted, by itself or with its project. */
export const ofVisibleRun = (runId: string): string =>
  `CROSS JOIN LATERAL (SELECT FROM runs.run_refs_v1 f WHERE f.org_id = $1 AND f.id = ${runId} OFFSET 0) run`;

const readChanges = sql(
  "artifacts_read_run_changes",
  'SELECT snapshot, project_id AS "projectId", run_id AS "runId" FROM runs.visibility_changes_v1($1)',
);

/** A run, or all of a project, that was hidden or shown again. The first row has the snapshot and no change. */
type RunChangeRow = {
  readonly snapshot: string | null;
  readonly projectId: string | null;
  readonly runId: string | null;
};

/** Returns which runs, of any organizations, were hidden or shown again since a snapshot, and the snapshot to go on with. */
export function readRunChanges(tx: Tx, since: string | undefined): Promise<RunChangeRow[]> {
  return tx.rows(readChanges, [since ?? null]);
}
