import { AppError, badRequest, notFound } from "@tidemark/errors";
import { isUuid, throwFault } from "@tidemark/requests";
import { applyRunEvent } from "@tidemark/run-state";
import type { ControlDeps, ControlHandlers } from "../deps.ts";
import { commitRunChange, encodeRunControl, stopAnsweredSubject, writeStops } from "./commit-stops.ts";
import { lockRuns } from "./run-states.sql.ts";
import { requireRun, stopCaller } from "./visible-runs.ts";

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
