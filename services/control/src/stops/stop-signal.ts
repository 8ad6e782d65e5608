import { notFound } from "@tidemark/errors";
import { callerOf, canSee, isUuid } from "@tidemark/requests";
import type { ControlDeps, ControlHandlers } from "../deps.ts";

/** Returns after how many seconds a training process should poll again (API specification, Limits). */
export function pollAfterSeconds(planTier: string): number {
  if (planTier === "premium") return 10;
  return planTier === "pro" ? 15 : 30;
}

/**
 * Returns whether a training process should stop (API specification, GET /api/runs/{run_id}/stop-signal).
 * Answers from memory for running runs, so that tens of thousands of processes can poll cheaply.
 * @throws not_found, warehouse_unavailable
 */
export function getStopSignal({ runs }: ControlDeps): ControlHandlers["getStopSignal"] {
  return async ({ runId }, call) => {
    const caller = callerOf(call);
    if (!isUuid(runId)) throw notFound("run");
    const run = await runs.find(caller.orgId, runId);
    if (run === undefined || !canSee(caller, run.owner)) throw notFound("run");
    const { status: runStatus, pending } = run;
    const pollAfter = { pollAfterSeconds: pollAfterSeconds(caller.planTier) };
    if (pending === undefined) return { runId, runStatus, ...pollAfter };
    const { requestId: stopRequestId, requestedAt, acknowledgedAt } = pending;
    return {
      runId,
      runStatus,
      ...pollAfter,
      pending: { stopRequestId, requestedAt, acknowledgedAt: acknowledgedAt ?? undefined },
    };
  };
}

/** Waits until this process has every change of runs in memory that was committed before the call. */
export function catchUpRuns({ runs }: ControlDeps): ControlHandlers["catchUpRuns"] {
  return async () => {
    await runs.catchUp();
    return {};
  };
}
