import { sql, type Tx } from "@tidemark/pg";

const moveSql = sql("runs_move", "SELECT runs.move_runs($1, $2, $3) AS moved");
const movePointsSql = sql("runs_move_points", "SELECT ingest.move_points_v1($1, $2, $3, $4)");

/** A run and the project that it is in. */
type PlacedRun = { readonly id: string; readonly projectId: string };

/** Moves locked runs, in the order of their ids, to another project. Returns false, and changes nothing, while that project or one of theirs is deleted. */
export async function moveRows(tx: Tx, orgId: string, runs: readonly PlacedRun[], toProject: string): Promise<boolean> {
  const ids = runs.map(({ id }) => id);
  if (!(await tx.one<{ moved: boolean }>(moveSql, [orgId, ids, toProject]))!.moved) return false;
  // Last, because writes of points may wait for the counters until all is committed.
  await tx.rows(movePointsSql, [orgId, ids, runs.map(({ projectId }) => projectId), toProject]);
  return true;
}

const organizationsSql = sql("runs_moved_organizations", 'SELECT org_id AS "orgId" FROM runs.moved_organizations()');

/** Returns some organizations with runs that were moved a moment ago. */
export async function listMovedOrganizations(tx: Tx): Promise<string[]> {
  return (await tx.rows<{ orgId: string }>(organizationsSql, [])).map(({ orgId }) => orgId);
}

const listSql = sql(
  "runs_list_moved",
  `SELECT m.run_id AS id, r.project_id AS "projectId"
   FROM (SELECT o.run_id FROM runs.moved_runs o WHERE o.org_id = $1 AND o.run_id > $2 ORDER BY o.run_id LIMIT $3::bigint) m
   LEFT JOIN LATERAL (SELECT o.project_id FROM runs.runs o WHERE o.org_id = $1 AND o.id = m.run_id OFFSET 0) r ON true
   ORDER BY m.run_id`,
);

/** Returns runs that were moved a moment ago, in the order of their ids, after one of them; null: it was removed since. The transaction sees deleted rows. */
export function listMoved(
  tx: Tx,
  orgId: string,
  after: string,
  rowsMax: number,
): Promise<{ id: string; projectId: string | null }[]> {
  return tx.rows(listSql, [orgId, after, rowsMax]);
}

const followSql = sql(
  "runs_follow",
  `SELECT ingest.follow_runs_v1($1, $2, $3, $4) + artifacts.follow_runs_v1($1, $2, $3, $4) + traces.follow_runs_v1($1, $2, $3, $4)
     + imports.follow_runs_v1($1, $2, $3) AS followed`,
);

/** Gives rows that other services keep of runs, at most `rowsMax` of a kind, the projects of the runs. Returns how many rows had another one. */
export async function followRuns(tx: Tx, orgId: string, runs: readonly PlacedRun[], rowsMax: number): Promise<number> {
  const values = [orgId, runs.map(({ id }) => id), runs.map(({ projectId }) => projectId), rowsMax];
  return (await tx.one<{ followed: number }>(followSql, values))!.followed;
}

const forgetSql = sql(
  "runs_forget_moved",
  `DELETE FROM runs.moved_runs m WHERE m.org_id = $1 AND m.run_id = ANY ($2::uuid[])
     AND m.xid < pg_snapshot_xmin(pg_current_snapshot()) AND m.at < clock_timestamp() - $3 * interval '1 second'`,
);

/** Forgets moves that are older than `seconds` and than every transaction that runs now. */
export async function forgetMoved(tx: Tx, orgId: string, runIds: readonly string[], seconds: number): Promise<void> {
  await tx.count(forgetSql, [orgId, runIds, seconds]);
}
