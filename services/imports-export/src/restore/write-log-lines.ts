import { bytesOfColumn } from "@tidemark/archive";
import { linesOfKinds, type LineWriter } from "./line-writer.ts";
import type { RestoreClients } from "./clients.ts";
import { bytesOfTimestamps } from "./write-points.ts";

/** Creates the writer of console lines. */
export function createLogLinesWriter(ingest: RestoreClients["ingest"]): LineWriter {
  return async (lines, name, ids, ask) => {
    for (const [i, { run_id, stream, columns }] of linesOfKinds(lines, "lines").entries()) {
      const request = {
        name: `${name}:${i}`,
        runId: ids.of("run", run_id),
        stream,
        lineNumbers: bytesOfColumn(columns.line_number),
        messages: [...columns.message],
        createdUs: bytesOfColumn(columns.created_at),
        timestampsUs: bytesOfTimestamps(columns.timestamp),
      };
      await ask((call) => ingest.restoreLogLines(request, call));
    }
    return [];
  };
}
