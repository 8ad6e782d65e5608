import type { Db } from "@tidemark/pg";
import type { ListLogLinesRequestSchema, ListLogLinesResponseSchema } from "@tidemark/proto/ingest/v1/ingest";
import type { Handler } from "@tidemark/rpc";
import { readLogCursor, writeLogCursor } from "../domain/log-cursor.ts";
import { scanBound, searchPage } from "../domain/log-search.ts";
import { logStreamOf } from "../domain/log-stream.ts";
import { listLogLines, tailLogLines } from "../store/list-log-lines.ts";
import type { RunDirectory } from "../store/run-directory.ts";
import { searchLogLines } from "../store/search-log-lines.ts";
import { callerOf, runIdOf, throwFault } from "./request.ts";

/** IngestReadService.ListLogLines. @throws not_found, then bad_request, also for a cursor that is none */
export function listLogLinesHandler(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
}): Handler<typeof ListLogLinesRequestSchema, typeof ListLogLinesResponseSchema> {
  const { db, runs } = deps;
  return async (request, call) => {
    const caller = callerOf(call);
    const runId = runIdOf(request.runId);
    await runs.require(caller, [runId]);
    throwFault(request.queryFault);
    const stream = logStreamOf(request.stream);
    const after = readLogCursor(request.cursor);
    const source = { orgId: caller.orgId, runId, stream };
    const { tail, limit, q } = request;
    return db.withTenant(caller.orgId, async (tx) => {
      if (tail !== undefined) return { lines: await tailLogLines(tx, source, tail) };
      if (q !== "") {
        const scanned = await searchLogLines(tx, source, after, q, scanBound(limit) + 1);
        const { lines, next, truncated } = searchPage(scanned, limit);
        return { lines, nextCursor: next === undefined ? "" : writeLogCursor(next), truncated };
      }
      const lines = await listLogLines(tx, source, after, limit);
      const last = lines.length === limit ? lines.at(-1) : undefined;
      return { lines, nextCursor: last === undefined ? "" : writeLogCursor(last) };
    });
  };
}
