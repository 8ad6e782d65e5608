import { sql, type Tx } from "@tidemark/pg";
import { instantOf, stateOfRow, type RunState, type RunStateRow } from "@tidemark/run-state";
import type { LifecycleRow } from "./run-row.ts";

/** A run that this transaction has locked. */
export type LockedRun = {
  readonly projectId: string;
  readonly state: RunState;
  readonly lifecycle: readonly LifecycleRow[];
  /** When the lock was obtained: the time of a transition. */
  readonly at: Date;
};

type LockedRow = RunStateRow & { readonly project_id: string; readonly lifecycle: string; readonly locked_at: string };

const lockRunStateSql = sql("runs_lock_run_state", "SELECT * FROM runs.lock_state_v1($1, $2)");

/** Locks a run until the transaction ends and returns its state; undefined when it is not in the organization. */
export async function lockRunState(tx: Tx, orgId: string, runId: string): Promise<LockedRun | undefined> {
  const row = await tx.one<LockedRow>(lockRunStateSql, [orgId, runId]);
  if (row === undefined) return undefined;
  return {
    projectId: row.project_id,
    lifecycle: JSON.parse(row.lifecycle) as LifecycleRow[],
    at: instantOf(row.locked_at),
    state: stateOfRow(row),
  };
}
