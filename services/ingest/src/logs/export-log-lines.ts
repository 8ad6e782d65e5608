import { bytesOfColumn } from "@tidemark/archive";
import type { Db } from "@tidemark/pg";
import type { ExportLogLinesRequestSchema, ExportLogLinesResponseSchema } from "@tidemark/proto/ingest/v1/archive";
import { exportedRuns, type RunDirectory } from "@tidemark/requests";
import type { StreamHandler } from "@tidemark/rpc";
import type { ScannedLine } from "./line-window.rules.ts";
import { readLogPageIn } from "./log-lines.sql.ts";
import { logStart, type LogPosition } from "./log-page.rules.ts";
import { findLogStreams } from "./exported-streams.sql.ts";

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
