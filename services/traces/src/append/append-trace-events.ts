import { idempotencyHashesInTurns, isAnswered } from "@tidemark/pg";
import { admitWithin, admitWrite, callerOf, pathId, throwFault } from "@tidemark/requests";
import { badRequest } from "@tidemark/errors";
import { TRACE_LIMITS } from "@tidemark/limits";
import type { TraceEvent } from "@tidemark/proto/traces/v1/traces";
import { finishInTurns, mapInTurns } from "@tidemark/work";
import type { TracesDeps, TracesHandlers } from "../deps.ts";
import { arrangeSteps } from "./arrange-events.rules.ts";
import { checkEvents } from "./events.rules.ts";
import { storeEvents } from "./store-events.ts";

const ROUTE = "POST /api/runs/{run_id}/traces/events";

/**
 * TracesService.AppendTraceEvents.
 * @throws not_found, bad_request, payment_required, plan_limit_exceeded, idempotency_key_reused, idempotency_in_progress
 */
export function appendTraceEvents(deps: TracesDeps): TracesHandlers["appendTraceEvents"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const runId = pathId(request.runId, "run");
    const projectId = await deps.runs.projectOf(caller, runId);
    throwFault(request.bodyFault);
    const { events, idempotencyKey } = request;
    if (idempotencyKey.length > TRACE_LIMITS.keyBytesMax) {
      throw badRequest(`Idempotency-Key must have at most ${TRACE_LIMITS.keyBytesMax} bytes`, "idempotency-key");
    }
    checkEvents(events, idempotencyKey !== "");
    const idempotency =
      idempotencyKey === ""
        ? null
        : await idempotencyHashesInTurns({
            key: idempotencyKey,
            route: ROUTE,
            parts: [runId, ...(await mapInTurns(events, partsOf)).flat()],
          });
    const wasStored = () => isAnswered(deps.db, orgId, idempotencyKey);
    await admitWrite(deps.eventGate, caller, events.length, wasStored);
    const additions = await finishInTurns(arrangeSteps(events));
    const segments = additions.flatMap((addition) => addition.segments);
    await admitWithin(
      deps.storageGate,
      caller,
      segments.reduce((sum, { bytes }) => sum + bytes, 0),
      wasStored,
    );
    const { inserted, traceIds, replayed } = await storeEvents(deps, {
      orgId,
      runId,
      projectId,
      idempotency,
      eventCount: events.length,
      additions,
    });
    return { inserted, traceIds: [...traceIds], replayed };
  };
}

/** Returns the parts that distinguish an event, in a form that does not depend on how its times and numbers were written. */
function partsOf({ attributesJson, metricsJson, linksJson, ...event }: TraceEvent): (string | Uint8Array)[] {
  return [
    JSON.stringify({ ...event, $typeName: undefined, $unknown: undefined }),
    attributesJson,
    metricsJson,
    linksJson,
  ];
}
