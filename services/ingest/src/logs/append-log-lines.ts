import type { ChangePublisher } from "@tidemark/bus";
import { badRequest } from "@tidemark/errors";
import { columnsOfRequest, countOf, messageBytesOf, REQUEST_IDS, type ArrivingLine } from "@tidemark/codecs/logs";
import { idempotencyHashes, isAnswered, type Db } from "@tidemark/pg";
import { admitWithin, callerOf, pathId, type PlanGate, type RunDirectory } from "@tidemark/requests";
import { LINE_BYTES, LOG_LINES_MAX } from "@tidemark/limits";
import { ChangeKind } from "@tidemark/proto/changes/v1/changes";
import type {
  AppendLogLinesRequestSchema,
  AppendLogLinesResponseSchema,
  LogLineInput,
} from "@tidemark/proto/ingest/v1/ingest";
import type { Handler } from "@tidemark/rpc";
import type { DirtyMarkers } from "../compaction/dirty-markers.rules.ts";
import type { IdSource } from "../writes/writes.rules.ts";
import { noteWrite, replyToWrite, throwBodyFault } from "../writes/write-steps.ts";
import { appendLogLines } from "./log-lines.sql.ts";
import { logStreamOf } from "./log-page.rules.ts";
import { segmentBlockOf, readSentTime } from "./log-line.rules.ts";

/** IngestService.AppendLogLines. @throws not_found, bad_request, plan_limit_exceeded, idempotency_key_reused, idempotency_in_progress */
export function appendLogLinesHandler(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
  readonly ids: IdSource;
  readonly logMarkers: DirtyMarkers;
  readonly storageGate: PlanGate;
  readonly noteChange: ChangePublisher["note"];
}): Handler<typeof AppendLogLinesRequestSchema, typeof AppendLogLinesResponseSchema> {
  const { db, runs, ids, logMarkers } = deps;
  return async (request, call) => {
    const caller = callerOf(call);
    const runId = pathId(request.runId, "run");
    await throwBodyFault(request.bodyFault, runs, caller, runId);
    const stream = logStreamOf(request.stream);
    const { lines } = request;
    if (lines.length === 0) throw badRequest("at least one line is needed", "lines");
    if (lines.length > LOG_LINES_MAX) throw badRequest(`lines must have 1 to ${LOG_LINES_MAX} items`, "lines");
    const columns = columnsOfRequest(lines.map(arrivingLine));
    const messageBytes = messageBytesOf(columns);
    const bytes = messageBytes + LINE_BYTES * lines.length;
    // A missing run takes precedence over a quota.
    const admitted = admitWithin(deps.storageGate, caller, bytes, async () => {
      await runs.require(caller, [runId]);
      return isAnswered(db, caller.orgId, request.idempotencyKey);
    });
    if (admitted !== undefined) await admitted;
    const marked = `${runId}/${stream}`;
    const runKnown = runs.knows(caller, runId);
    const markerSeconds = logMarkers.next(marked, messageBytes);
    try {
      const highestLine = columns.lineNumbers[countOf(columns) - 1]!;
      const outcome = await appendLogLines(db, {
        source: { orgId: caller.orgId, runId, stream },
        runKnown,
        onlyProject: caller.projectId ?? null,
        idempotency:
          request.idempotencyKey === ""
            ? null
            : idempotencyHashes({
                key: request.idempotencyKey,
                route: "POST /api/runs/{run_id}/logs",
                parts: [
                  runId,
                  stream,
                  JSON.stringify(lines.map((line) => [line.lineNumber, line.message, line.timestamp])),
                ],
              }),
        takeId: () => ids.take(lines.length, REQUEST_IDS),
        lowestLine: columns.lineNumbers[0]!,
        highestLine,
        lines: lines.length,
        messageBytes,
        block: segmentBlockOf(columns),
        markerSeconds,
      });
      if (outcome.outcome !== "inserted") logMarkers.forget(marked);
      const reply = replyToWrite(outcome, runs, caller, runId);
      if (!reply.replayed) noteWrite(deps, caller, { runId, kind: ChangeKind.LINES, line: highestLine });
      return reply;
    } catch (error) {
      logMarkers.forget(marked);
      throw error;
    }
  };
}

function arrivingLine({ lineNumber, message, timestamp }: LogLineInput): ArrivingLine {
  if (timestamp === "") return { lineNumber, message, sent: null };
  const sent = readSentTime(timestamp);
  if (sent === undefined) throw badRequest("timestamp must be an RFC 3339 time in UTC", "lines");
  return { lineNumber, message, sent };
}
