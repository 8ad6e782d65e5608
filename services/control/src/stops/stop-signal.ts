import { AppError, badRequest, notFound } from "@tidemark/errors";
import { callerOf, canSee, isUuid, throwFault } from "@tidemark/requests";
import { applyRunEvent } from "@tidemark/run-state";
import type { ControlDeps, ControlHandlers } from "../deps.ts";
import {
  commitRunChange,
  encodeRunControl,
  stopAnsweredSubject,
  writeStops,
  requireRun,
  stopCaller,
} from "./stop-runs.ts";
import { lockRuns } from "./run-states.sql.ts";

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

const states = ["acknowledged", "completed"] as const;

/**
 * Records how far a training process has carried out a stop request (API specification,
 * POST /api/runs/{run_id}/stop-ack). Completing it ends a running run in the same transaction.
 * @throws not_found, then bad_request, then conflict when the request is not the stored one
 */
export function acknowledgeStop(deps: ControlDeps): ControlHandlers["acknowledgeStop"] {
  return async (request, call) => {
    const caller = stopCaller(call);
    const { orgId } = caller;
    const { runId, stopRequestId } = request;
    if (!isUuid(runId)) throw notFound("run");
    return commitRunChange(deps, orgId, (changed) =>
      deps.db.withTenant(orgId, async (tx) => {
        await requireRun(tx, caller, runId);
        throwFault(request.bodyFault);
        const state = states.find((known) => known === request.state);
        if (state === undefined) throw badRequest(`state must be one of ${states.join(", ")}`, "state");
        const [run] = await lockRuns(tx, orgId, [runId]);
        if (run === undefined) throw notFound("run");
        const message = request.message ?? null;
        const event = { kind: "ack", requestId: stopRequestId, state, message } as const;
        const next = applyRunEvent(run.state, event, run.at);
        if (next.outcome === "stop_id_mismatch") {
          throw new AppError("conflict", "stop_request_id is not the run's stop request", { field: "stop_request_id" });
        }
        if (next.changed) {
          await writeStops(tx, orgId, stopAnsweredSubject, [{ id: runId, state: next.state }]);
          const statusChanged = next.state.status !== run.state.status;
          changed.push({ id: runId, projectId: run.projectId, statusChanged });
        }
        return { runId, runControl: encodeRunControl(next.state) };
      }),
    );
  };
}
