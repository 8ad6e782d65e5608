import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import { withIdempotency } from "@tidemark/pg";
import { StopRunsResponseSchema } from "@tidemark/proto/control/v1/control";
import { isUuid } from "@tidemark/requests";
import { askToStop } from "./ask-to-stop.ts";
import { commitRunChange } from "./commit-stops.ts";
import type { ControlDeps, ControlHandlers } from "./deps.ts";
import { stopCaller, visibleRuns } from "./run-visibility.ts";

const runsMax = 100;

/**
 * Asks several runs to stop, all in one transaction (API specification, POST /api/runs/stop). A stored
 * answer shows only what the caller may see now.
 * @throws bad_request, idempotency_key_reused, idempotency_in_progress
 */
export function stopRuns(deps: ControlDeps): ControlHandlers["stopRuns"] {
  return async (request, call) => {
    const caller = stopCaller(call);
    const { runIds, idempotencyKey: key, reason = null } = request;
    if (runIds.length === 0 || runIds.length > runsMax || !runIds.every(isUuid)) {
      throw badRequest(`run_ids must have 1 to ${runsMax} UUIDs`, "run_ids");
    }
    const route = "POST /api/runs/stop";
    const keyed = key === "" ? undefined : { key, route, parts: [JSON.stringify({ runIds, reason })] };
    let visible: ReadonlySet<string> = new Set();
    const work = () =>
      withIdempotency(
        deps.db,
        caller.orgId,
        keyed,
        async (tx) => {
          visible = await visibleRuns(tx, caller, runIds);
        },
        async (tx) => {
          const wish = { runIds: [...visible], reason, actor: caller.actor, newId: deps.newId };
          const stopped = new Map((await askToStop(tx, caller.orgId, wish)).map((stop) => [stop.runId, stop]));
          const stops = [...new Set(runIds)].map((runId) => stopped.get(runId) ?? { runId });
          return toBinary(StopRunsResponseSchema, create(StopRunsResponseSchema, { stops }));
        },
      );
    const { reply, replayed } = await commitRunChange(deps, work);
    const { stops } = fromBinary(StopRunsResponseSchema, reply);
    return { stops: stops.map((stop) => (visible.has(stop.runId) ? stop : { runId: stop.runId })), replayed };
  };
}
