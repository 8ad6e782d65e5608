import type { Db } from "@tidemark/pg";
import type { ListLogLinesRequestSchema, ListLogLinesResponseSchema } from "@tidemark/proto/ingest/v1/ingest";
import { jsonBytes } from "@tidemark/limits";
import { callerOf, canBeFound, pathId, throwFault, type RunDirectory } from "@tidemark/requests";
import type { Handler } from "@tidemark/rpc";
import { mapInTurns } from "@tidemark/work";
import { countFitting } from "../reads/page-weight.rules.ts";
import {
  type ScannedLine,
  logStreamOf,
  readLogCursor,
  searchLines,
  searchPage,
  writeLogCursor,
} from "./log-page.rules.ts";
import { readLogPage, readLogTail } from "./log-lines.sql.ts";
import { createTimeWriter, splitMicros } from "./log-line.rules.ts";

/** IngestReadService.ListLogLines. @throws not_found, then bad_request, also for a text that is not a cursor */
export function listLogLinesHandler(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
}): Handler<typeof ListLogLinesRequestSchema, typeof ListLogLinesResponseSchema> {
  const { db, runs } = deps;
  return async (request, call) => {
    const caller = callerOf(call);
    const runId = pathId(request.runId, "run");
    await runs.require(caller, [runId]);
    throwFault(request.queryFault);
    const stream = logStreamOf(request.stream);
    const after = readLogCursor(request.cursor);
    const source = { orgId: caller.orgId, runId, stream };
    const { tail, limit, q } = request;
    if (tail !== undefined) {
      const lines = await readLogTail(db, source, tail);
      const fitting = countFitting((await mapInTurns(lines, weightOf)).toReversed());
      return { lines: lineMessages(lines.slice(lines.length - fitting)), truncated: fitting < lines.length };
    }
    if (!canBeFound(q)) return {};
    if (q !== "") {
      const wanted = { after, linesMax: searchLines(limit), matchesMax: limit, text: q };
      const found = searchPage(await readLogPage(db, source, wanted), limit);
      const lines = await fittingOf(found.lines);
      const isCut = lines.length < found.lines.length;
      const next = isCut ? lines.at(-1) : found.next;
      return {
        lines: lineMessages(lines),
        nextCursor: next === undefined ? "" : writeLogCursor(next),
        truncated: !isCut && found.truncated,
      };
    }
    const read = await readLogPage(db, source, { after, linesMax: limit, matchesMax: limit, text: "" });
    const lines = await fittingOf(read);
    const last = read.length === limit || lines.length < read.length ? lines.at(-1) : undefined;
    return { lines: lineMessages(lines), nextCursor: last === undefined ? "" : writeLogCursor(last) };
  };
}

/** Bytes of a line in an answer without its message. */
const LINE_BYTES = 256;

function weightOf({ message }: ScannedLine): number {
  return LINE_BYTES + jsonBytes(message ?? "");
}

/** Returns the first lines, as many as fit in the bytes of a page. */
async function fittingOf<Line extends ScannedLine>(lines: readonly Line[]): Promise<readonly Line[]> {
  return lines.slice(0, countFitting(await mapInTurns(lines, weightOf)));
}

/** Returns lines as messages. A line without a client time gets its time of arrival. */
function lineMessages(lines: readonly ScannedLine[]) {
  const writeSent = createTimeWriter();
  const writeCreated = createTimeWriter();
  return lines.map((line) => {
    const created = splitMicros(line.createdUs);
    const createdAt = writeCreated(created.seconds, created.micros);
    return {
      lineNumber: line.lineNumber,
      message: line.message ?? "",
      timestamp: Number.isNaN(line.sentSeconds) ? createdAt : writeSent(line.sentSeconds, line.sentMicros),
      createdAt,
    };
  });
}
