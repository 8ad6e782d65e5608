import { sql, type Tx } from "@tidemark/pg";
import { rowOfState, type RunState } from "@tidemark/run-state";
import type { LifecycleRow } from "./run-row.ts";

const setRunStateSql = sql(
  "runs_set_run_state",
  "SELECT runs.set_state_v1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)",
);

/** Writes the state of a run that this transaction has locked; without `lifecycle` its entries stay. */
export async function setRunState(
  tx: Tx,
  orgId: string,
  runId: string,
  state: RunState,
  lifecycle: readonly LifecycleRow[] | undefined,
): Promise<void> {
  const row = rowOfState(state);
  await tx.rows(setRunStateSql, [
    orgId,
    runId,
    row.status,
    row.finished_at,
    row.resume_count,
    row.resumed_at,
    row.stop_state,
    row.stop_request_id,
    row.stop_reason,
    row.stop_completion_message,
    row.stop_actor,
    row.stop_requested_at,
    row.stop_acknowledged_at,
    row.stop_completed_at,
    row.stop_updated_at,
    lifecycle === undefined ? null : JSON.stringify(lifecycle),
  ]);
}
