import { bytesOfColumn, doublesOfBytes, LINE_LENGTHS_MAX } from "@tidemark/archive";
import type { Db } from "@tidemark/pg";
import type { ExportLogLinesRequestSchema, ExportLogLinesResponseSchema } from "@tidemark/proto/ingest/v1/archive";
import { exportedRuns, type RunDirectory, callerOf, pathId } from "@tidemark/requests";
import type { StreamHandler, Handler } from "@tidemark/rpc";
import { type ScannedLine, logStart, type LogPosition, logStreamOf } from "./log-page.rules.ts";
import { readLogPageIn } from "./log-lines.sql.ts";
import { findLogStreams, insertLogSegments, type LogSegment } from "./archived-log-lines.sql.ts";
import type { ChangePublisher } from "@tidemark/bus";
import { badRequest } from "@tidemark/errors";
import { LOG_LINES_MAX } from "@tidemark/limits";
import { columnsOfRequest, countOf, messageBytesOf, REQUEST_IDS, type ArrivingLine } from "@tidemark/codecs/logs";
import { ChangeKind } from "@tidemark/proto/changes/v1/changes";
import type {
  RestoreLogLinesRequest,
  RestoreLogLinesRequestSchema,
  RestoreLogLinesResponseSchema,
} from "@tidemark/proto/ingest/v1/restore";
import { segmentBlockOf, splitMicros } from "./log-line.rules.ts";
import type { IdSource } from "../writes/writes.rules.ts";
import { withFreshIds } from "../writes/fresh-ids.sql.ts";
import { noteWrite, restoreOnce } from "../writes/write-steps.ts";

const LINES = 1000;
const US_PER_SECOND = 1_000_000;

/** IngestArchiveService.ExportLogLines. @throws bad_request, not_found */
export function exportLogLinesHandler(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
}): StreamHandler<typeof ExportLogLinesRequestSchema, typeof ExportLogLinesResponseSchema> {
  return async function* (request, call) {
    const { orgId, runIds } = await exportedRuns(deps.runs, request.runIds, call);
    yield* deps.db.streamTenant(
      orgId,
      async function* (tx) {
        for (const { runId, stream } of await findLogStreams(tx, orgId, runIds)) {
          let after: LogPosition = logStart;
          for (;;) {
            const wanted = { after, linesMax: LINES, matchesMax: LINES, text: "" };
            const lines = await readLogPageIn(tx, { orgId, runId, stream }, wanted);
            if (lines.length > 0) yield { runId, stream, ...columnsOf(lines) };
            if (lines.length < LINES) break;
            after = lines.at(-1)!;
          }
        }
      },
      { plans: "walks" },
    );
  };
}

function columnsOf(lines: readonly ScannedLine[]) {
  const sent = Float64Array.from(lines, ({ sentSeconds, sentMicros }) => sentSeconds * US_PER_SECOND + sentMicros);
  return {
    lineNumbers: bytesOfColumn(Float64Array.from(lines, ({ lineNumber }) => lineNumber)),
    messages: lines.map(({ message }) => message ?? ""),
    createdUs: bytesOfColumn(Float64Array.from(lines, ({ createdUs }) => createdUs)),
    timestampsUs: sent.every(Number.isNaN) ? new Uint8Array() : bytesOfColumn(sent),
  };
}

/** IngestRestoreService.RestoreLogLines: segments for all lines that were received at one moment. @throws see restore.proto */
export function restoreLogLinesHandler(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
  readonly ids: IdSource;
  readonly noteChange: ChangePublisher["note"];
}): Handler<typeof RestoreLogLinesRequestSchema, typeof RestoreLogLinesResponseSchema> {
  const { db, runs, ids } = deps;
  return async (request, call) => {
    const caller = callerOf(call);
    const runId = pathId(request.runId, "run");
    await runs.require(caller, [runId]);
    const { orgId } = caller;
    const { name, lineNumbers, messages, createdUs, timestampsUs } = request;
    const stream = logStreamOf(request.stream);
    const moments = linesByMoment(request);
    const parts = [runId, stream, lineNumbers, JSON.stringify(messages), createdUs, timestampsUs];
    await withFreshIds(() =>
      restoreOnce(db, { orgId, name, parts }, (tx) =>
        insertLogSegments(
          tx,
          { orgId, runId, stream },
          moments.map(([receivedUs, lines]) => segmentOf(receivedUs, lines, ids)),
        ),
      ),
    );
    noteWrite(deps, caller, { runId, kind: ChangeKind.LINES });
    return {};
  };
}

/** Returns the lines by time of receipt, the earliest first: of lines with one number, the later ones follow. @throws bad_request */
function linesByMoment(request: RestoreLogLinesRequest): [receivedUs: number, lines: ArrivingLine[]][] {
  const { messages } = request;
  const numbers = doublesOfBytes(request.lineNumbers);
  const received = doublesOfBytes(request.createdUs);
  const sent = doublesOfBytes(request.timestampsUs);
  if (messages.length < 1 || messages.length > LINE_LENGTHS_MAX.lines) {
    throw badRequest(`lines must have 1 to ${LINE_LENGTHS_MAX.lines} items`, "messages");
  }
  if (
    [numbers, received].some(({ length }) => length !== messages.length) ||
    ![0, messages.length].includes(sent.length)
  ) {
    throw badRequest("the columns differ in length", "messages");
  }
  const moments = new Map<number, ArrivingLine[]>();
  for (const [i, message] of messages.entries()) {
    const lineNumber = numbers[i]!;
    if (!(Number.isSafeInteger(lineNumber) && lineNumber >= 0 && Number.isSafeInteger(received[i]))) {
      throw badRequest("line numbers and times are whole numbers", "line_numbers");
    }
    const sentUs = sent[i] ?? Number.NaN;
    const line = { lineNumber, message, sent: Number.isNaN(sentUs) ? null : splitMicros(sentUs) };
    const lines = moments.get(received[i]!);
    if (lines === undefined) moments.set(received[i]!, [line]);
    else lines.push(line);
  }
  return [...moments].sort(([a], [b]) => a - b).flatMap(([receivedUs, lines]) => segmentsOf(receivedUs, lines));
}

/** A segment has as many ids as a request may have lines. */
function segmentsOf(receivedUs: number, lines: ArrivingLine[]): [receivedUs: number, lines: ArrivingLine[]][] {
  return Array.from({ length: Math.ceil(lines.length / LOG_LINES_MAX) }, (_, i) => [
    receivedUs,
    lines.slice(i * LOG_LINES_MAX, (i + 1) * LOG_LINES_MAX),
  ]);
}

function segmentOf(receivedUs: number, lines: readonly ArrivingLine[], ids: IdSource): LogSegment {
  const columns = columnsOfRequest(lines);
  return {
    id: ids.take(lines.length, REQUEST_IDS),
    receivedUs,
    firstLine: columns.lineNumbers[0]!,
    lastLine: columns.lineNumbers[countOf(columns) - 1]!,
    lines: lines.length,
    messageBytes: messageBytesOf(columns),
    block: segmentBlockOf(columns),
  };
}
