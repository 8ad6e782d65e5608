import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { notFound } from "@tidemark/errors";
import { withIdempotency } from "@tidemark/pg";
import { RunStopSchema } from "@tidemark/proto/control/v1/control";
import { isUuid, throwFault } from "@tidemark/requests";
import { askToStop } from "./ask-to-stop.ts";
import { commitRunChange } from "./commit-stops.ts";
import type { ControlDeps, ControlHandlers } from "./deps.ts";
import { requireRun, stopCaller } from "./run-visibility.ts";

/**
 * Asks a run to stop (API specification, POST /api/runs/{run_id}/stop). Whatever the account state
 * is: somebody who cannot pay must be able to end what costs.
 * @throws not_found, then bad_request, then idempotency_key_reused, idempotency_in_progress
 */
export function stopRun(deps: ControlDeps): ControlHandlers["stopRun"] {
  return async (request, call) => {
    const caller = stopCaller(call);
    const { runId, idempotencyKey: key, reason = null } = request;
    if (!isUuid(runId)) throw notFound("run");
    const route = "POST /api/runs/{run_id}/stop";
    const keyed = key === "" ? undefined : { key, route, parts: [runId, JSON.stringify({ reason })] };
    const work = () =>
      withIdempotency(
        deps.db,
        caller.orgId,
        keyed,
        async (tx) => {
          await requireRun(tx, caller, runId);
          throwFault(request.bodyFault);
        },
        async (tx) => {
          const wish = { runIds: [runId], reason, actor: caller.actor, newId: deps.newId };
          const [stop] = await askToStop(tx, caller.orgId, wish);
          if (stop === undefined) throw notFound("run");
          return toBinary(RunStopSchema, create(RunStopSchema, stop));
        },
      );
    const { reply, replayed } = await commitRunChange(deps, work);
    return { stop: fromBinary(RunStopSchema, reply), replayed };
  };
}
