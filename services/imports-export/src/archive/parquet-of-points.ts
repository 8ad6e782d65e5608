import type { ExportArchiveRequest } from "@tidemark/proto/imports/v1/archive";
import type { Call } from "@tidemark/rpc";
import type { ArchiveClients } from "./clients.ts";
import { createParquetFile } from "./parquet-file.ts";
import { columnsOf } from "./point-columns.rules.ts";
import { joinRows, pointRows, type PointRows } from "./point-rows.rules.ts";
import { groupsOf, readSelectedRuns, type SelectedRuns } from "./selected-runs.ts";

/** Rows of a group: enough for readers, and few enough that other requests wait only a few milliseconds. */
const GROUP_ROWS = 16_384;
/** Bytes that are sent together. */
const PIECE_BYTES = 256 * 1024;

/**
 * Writes all points of a project or of some runs as a Parquet file, in memory that does not grow with their number except for the footer: about a kilobyte
 * for each 16,384 points.
 * @throws bad_request, not_found before the first byte
 */
export async function* parquetOfPoints(
  clients: Pick<ArchiveClients, "runs" | "ingest">,
  request: Pick<ExportArchiveRequest, "runIds" | "project">,
  call: Call,
): AsyncGenerator<Uint8Array, void, undefined> {
  const selected: SelectedRuns = { projects: [], runIds: [] };
  const names = new Map<string, string>();
  for await (const row of readSelectedRuns(clients, request, call, selected)) {
    if ("run" in row && row.run !== undefined) names.set(row.run.id, row.run.name);
  }
  const file = createParquetFile();
  let waiting: PointRows[] = [];
  let count = 0;
  for (const runIds of groupsOf(selected.runIds)) {
    for await (const message of clients.ingest.exportPoints({ runIds }, call)) {
      for (const rows of pointRows(columnsOf(message), names.get(message.runId) ?? "", GROUP_ROWS)) {
        waiting.push(rows);
        count += rows.values.length;
        if (count < GROUP_ROWS) continue;
        yield* piecesOf(file.write(joinRows(waiting)));
        waiting = [];
        count = 0;
      }
    }
  }
  if (waiting.length > 0) yield* piecesOf(file.write(joinRows(waiting)));
  yield* piecesOf(file.end());
}

function* piecesOf(bytes: Uint8Array): Generator<Uint8Array, void, undefined> {
  for (let from = 0; from < bytes.length; from += PIECE_BYTES) yield bytes.subarray(from, from + PIECE_BYTES);
}
