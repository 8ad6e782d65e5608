import { sql, type Tx } from "@tidemark/pg";
import { instantOf, stateOfRow, type RunState, type RunStateRow } from "@tidemark/run-state";

// One after another as they are listed, so that two transactions never wait for each other.
const lockRunsSql = sql(
  "control_lock_runs",
  `SELECT wanted.id, locked.*
   FROM unnest($2::uuid[]) AS wanted (id), LATERAL runs.lock_state_v1($1, wanted.id) AS locked`,
);

/** A run that this transaction has locked. */
export type LockedRun = {
  readonly id: string;
  readonly projectId: string;
  readonly state: RunState;
  /** When the lock was obtained: the time of a transition. */
  readonly at: Date;
};

type Row = RunStateRow & { readonly id: string; readonly project_id: string; readonly locked_at: string };

/** Locks runs, in the order of their ids, until the transaction ends; those that are not in the organization are left out. */
export async function lockRuns(tx: Tx, orgId: string, runIds: readonly string[]): Promise<LockedRun[]> {
  const rows = await tx.rows<Row>(lockRunsSql, [orgId, runIds.toSorted()]);
  return rows.map((row) => ({
    id: row.id,
    projectId: row.project_id,
    state: stateOfRow(row),
    at: instantOf(row.locked_at),
  }));
}
