import { badRequest } from "@tidemark/errors";
import { idempotencyHashes, type Db } from "@tidemark/pg";
import type { AppendLogLinesRequestSchema, AppendLogLinesResponseSchema } from "@tidemark/proto/ingest/v1/ingest";
import type { Handler } from "@tidemark/rpc";
import type { IdSource } from "../domain/id-source.ts";
import { logStreamOf } from "../domain/log-stream.ts";
import { appendLogLines } from "../store/append-log-lines.ts";
import type { RunDirectory } from "../store/run-directory.ts";
import { callerOf, refuseFaultyBody, runIdOf } from "./request.ts";
import { settleWrite } from "./settle-write.ts";

/** IngestService.AppendLogLines. @throws not_found, bad_request, idempotency_key_reused, idempotency_in_progress */
export function appendLogLinesHandler(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
  readonly ids: IdSource;
}): Handler<typeof AppendLogLinesRequestSchema, typeof AppendLogLinesResponseSchema> {
  const { db, runs, ids } = deps;
  return async (request, call) => {
    const caller = callerOf(call);
    const runId = runIdOf(request.runId);
    await refuseFaultyBody(request.bodyFault, runs, caller, runId);
    const stream = logStreamOf(request.stream);
    const { lines } = request;
    if (lines.length === 0) throw badRequest("at least one line is needed", "lines");
    const outcome = await appendLogLines(db, {
      orgId: caller.orgId,
      runId,
      runKnown: runs.knows(caller, runId),
      onlyProject: caller.projectId,
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
      takeIds: ids.take,
      stream,
      lines,
    });
    return settleWrite(outcome, runs, caller, runId);
  };
}
