import { sql, type Tx } from "@tidemark/pg";
import type { RunState } from "@tidemark/run-state";
import { toText } from "./instant.ts";
import type { LifecycleRow } from "./run-row.ts";

const statement = sql(
  "runs_set_run_state",
  "SELECT runs.set_state_v1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)",
);

const optionalText = (date: Date | null): string | null => (date === null ? null : toText(date));

/** Writes the state of a run that this transaction has locked; without `lifecycle` its entries stay. */
export async function setRunState(
  tx: Tx,
  orgId: string,
  runId: string,
  state: RunState,
  lifecycle: readonly LifecycleRow[] | undefined,
): Promise<void> {
  const { stop } = state;
  await tx.rows(statement, [
    orgId,
    runId,
    state.status,
    optionalText(state.finishedAt),
    state.resumeCount,
    optionalText(state.resumedAt),
    stop.state,
    stop.requestId,
    stop.reason,
    stop.completionMessage,
    stop.actor,
    optionalText(stop.requestedAt),
    optionalText(stop.acknowledgedAt),
    optionalText(stop.completedAt),
    optionalText(stop.updatedAt),
    lifecycle === undefined ? null : JSON.stringify(lifecycle),
  ]);
}
