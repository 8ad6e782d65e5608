import { sql, type Tx } from "@tidemark/pg";
import type { RunState, RunStatus, StopActor, StopState } from "@tidemark/run-state";
import { toDate } from "./instant.ts";
import type { LifecycleRow } from "./run-row.ts";

/** A run that this transaction has locked. */
export type LockedRun = {
  readonly projectId: string;
  readonly state: RunState;
  readonly lifecycle: readonly LifecycleRow[];
  /** When the lock was obtained: the time of a transition. */
  readonly at: Date;
};

type Row = {
  project_id: string;
  status: RunStatus;
  started_at: string;
  finished_at: string | null;
  resume_count: number;
  resumed_at: string | null;
  lifecycle: string;
  stop_state: StopState;
  stop_request_id: string | null;
  stop_reason: string | null;
  stop_completion_message: string | null;
  stop_actor: StopActor | null;
  stop_requested_at: string | null;
  stop_acknowledged_at: string | null;
  stop_completed_at: string | null;
  stop_updated_at: string | null;
  locked_at: string;
};

const statement = sql("runs_lock_run_state", "SELECT * FROM runs.lock_state_v1($1, $2)");

const optionalDate = (text: string | null): Date | null => (text === null ? null : toDate(text));

/** Locks a run until the transaction ends and returns its state; undefined when it is not in the organization. */
export async function lockRunState(tx: Tx, orgId: string, runId: string): Promise<LockedRun | undefined> {
  const row = await tx.one<Row>(statement, [orgId, runId]);
  if (row === undefined) return undefined;
  return {
    projectId: row.project_id,
    lifecycle: JSON.parse(row.lifecycle) as LifecycleRow[],
    at: toDate(row.locked_at),
    state: {
      status: row.status,
      startedAt: toDate(row.started_at),
      finishedAt: optionalDate(row.finished_at),
      resumeCount: row.resume_count,
      resumedAt: optionalDate(row.resumed_at),
      stop: {
        state: row.stop_state,
        requestId: row.stop_request_id,
        reason: row.stop_reason,
        completionMessage: row.stop_completion_message,
        actor: row.stop_actor,
        requestedAt: optionalDate(row.stop_requested_at),
        acknowledgedAt: optionalDate(row.stop_acknowledged_at),
        completedAt: optionalDate(row.stop_completed_at),
        updatedAt: optionalDate(row.stop_updated_at),
      },
    },
  };
}
