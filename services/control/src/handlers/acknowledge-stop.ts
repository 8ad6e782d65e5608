import { AppError, badRequest, notFound } from "@tidemark/errors";
import { applyRunEvent } from "@tidemark/run-state";
import { announceStops, stopAnsweredSubject } from "../store/announce-stops.ts";
import { lockRuns } from "../store/lock-runs.ts";
import { setRunStates } from "../store/set-run-states.ts";
import { throwFault } from "./caller.ts";
import { settled, type ControlDeps, type ControlHandlers } from "./deps.ts";
import { encodeRunControl } from "./encode-run-control.ts";
import { encodeStopEvent } from "./encode-stop-event.ts";
import { runCaller } from "./run-caller.ts";
import { isRunId, requireRun } from "./run-visibility.ts";

const states = ["acknowledged", "completed"] as const;

/**
 * Notes how far a training process has got with a stop request (API specification,
 * POST /api/runs/{run_id}/stop-ack). Completing it ends a running run in the same transaction.
 * @throws not_found, then bad_request, then conflict when the request is not the stored one
 */
export function acknowledgeStop(deps: ControlDeps): ControlHandlers["acknowledgeStop"] {
  return async (request, call) => {
    const caller = runCaller(call);
    const { orgId } = caller;
    const { runId, stopRequestId } = request;
    if (!isRunId(runId)) throw notFound("run");
    const work = deps.db.withTenant(orgId, async (tx) => {
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
        const changed = [{ id: runId, state: next.state }];
        await setRunStates(tx, orgId, changed);
        await announceStops(tx, orgId, stopAnsweredSubject, encodeStopEvent(orgId, changed));
      }
      return { runId, runControl: encodeRunControl(next.state) };
    });
    return settled(deps, work);
  };
}
