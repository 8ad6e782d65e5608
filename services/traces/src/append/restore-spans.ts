import { create, toBinary } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import { RESTORE_LIMITS } from "@tidemark/limits";
import { idempotencyHashes } from "@tidemark/pg";
import {
  ExportTracesResponseSchema,
  type ExportTracesResponse,
  type ExportedSpan,
} from "@tidemark/proto/traces/v1/archive";
import type { TracesRestoreService } from "@tidemark/proto/traces/v1/restore";
import { EventKind, TraceEventSchema, type TraceEvent } from "@tidemark/proto/traces/v1/traces";
import { callerOf, pathId } from "@tidemark/requests";
import type { Handlers } from "@tidemark/rpc";
import type { SpanRecord } from "@tidemark/codecs/spans";
import { finishInTurns } from "@tidemark/work";
import { arrangeSteps, recordOf } from "./arrange-events.rules.ts";
import { faultOfEvent } from "./events.rules.ts";
import { storeEvents } from "./store-events.ts";
import type { TracesDeps } from "../deps.ts";

const TRACES_MAX = 500;
const ROUTE = "restore";

/** Returns the handlers of TracesRestoreService. RestoreSpans throws bad_request, not_found, idempotency_key_reused and idempotency_in_progress. */
export function restoreHandlers(deps: TracesDeps): Handlers<(typeof TracesRestoreService)["method"]> {
  return {
    async restoreSpans({ name, traces }, call) {
      const caller = callerOf(call);
      const { orgId } = caller;
      if (name.length < 1 || name.length > RESTORE_LIMITS.nameCharactersMax) {
        throw badRequest(`name must have 1 to ${RESTORE_LIMITS.nameCharactersMax} characters`, "name");
      }
      if (traces.length < 1 || traces.length > TRACES_MAX) {
        throw badRequest(`traces must have 1 to ${TRACES_MAX} items`, "traces");
      }
      for (const [i, group] of groupsOf(traces).entries()) {
        const runId = pathId(group[0]!.runId, "run");
        const projectId = await deps.runs.projectOf(caller, runId);
        const { events, toRecord } = eventsOf(group);
        const updated = new Map(group.map(({ traceId, updatedUs }) => [traceId, updatedUs]));
        const additions = await finishInTurns(arrangeSteps(events, toRecord));
        await storeEvents(deps, {
          orgId,
          runId,
          projectId,
          idempotency: idempotencyHashes({
            key: `${name}/${i}`,
            route: ROUTE,
            parts: group.map((trace) => toBinary(ExportTracesResponseSchema, trace)),
          }),
          eventCount: events.length,
          additions,
          restoredUs: additions.map(({ traceId }) => updated.get(traceId)!),
        });
      }
      return {};
    },
  };
}

/** Returns the traces in groups of one run, in order, so that no trace occurs twice in a group. */
function groupsOf(traces: readonly ExportTracesResponse[]): ExportTracesResponse[][] {
  const groups: ExportTracesResponse[][] = [];
  let seen = new Set<string>();
  for (const trace of traces) {
    const last = groups.at(-1);
    if (last === undefined || last[0]!.runId !== trace.runId || seen.has(trace.traceId)) {
      groups.push([trace]);
      seen = new Set();
    } else last.push(trace);
    seen.add(trace.traceId);
  }
  return groups;
}

/** Returns the spans of traces as events, and the function that makes records of them with their original sequences. @throws bad_request */
function eventsOf(traces: readonly ExportTracesResponse[]) {
  const spans = new Map<TraceEvent, ExportedSpan>();
  for (const { traceId, spans: exported } of traces) {
    for (const one of exported) {
      if (one.span === undefined) throw badRequest("a span is missing", "traces");
      const { $typeName: _, $unknown: __, childCount: ___, ...span } = one.span;
      const event = create(TraceEventSchema, {
        ...span,
        traceId,
        sequence: one.sequence,
        eventKind: EventKind.FINISHED,
      });
      const fault = faultOfEvent(event);
      if (fault !== undefined) throw badRequest(fault, "traces");
      spans.set(event, one);
    }
  }
  if (spans.size === 0) throw badRequest("at least one span is needed", "traces");
  return {
    events: [...spans.keys()],
    toRecord: (event: TraceEvent) => withSequences(recordOf(event), spans.get(event)!),
  };
}

/** An event that names a member alone has its sequence; several together have those of the ones that named it. */
function withSequences(record: SpanRecord, exported: ExportedSpan): SpanRecord {
  record.parentSeq = exported.parentSequence ?? record.parentSeq;
  record.endSeq = exported.endedSequence ?? record.endSeq;
  record.durationSeq = exported.durationSequence ?? record.durationSeq;
  record.stepSeq = exported.stepSequence ?? record.stepSeq;
  record.rankSeq = exported.rankSequence ?? record.rankSeq;
  return record;
}
