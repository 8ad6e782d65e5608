import { notFound } from "@tidemark/errors";
import { callerOf, canSee, isUuid } from "@tidemark/requests";
import { pollAfterSeconds } from "../domain/poll-interval.ts";
import type { ControlDeps, ControlHandlers } from "./deps.ts";

/**
 * Tells a training process whether to stop (API specification, GET /api/runs/{run_id}/stop-signal).
 * Of running runs from memory, which is what makes tens of thousands of polling processes cheap.
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
