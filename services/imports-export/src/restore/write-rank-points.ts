import { bytesOfColumn } from "@tidemark/archive";
import { linesOfKinds, type LineWriter } from "./line-writer.ts";
import type { RestoreClients } from "./clients.ts";
import { bytesOfTimestamps } from "./timestamps.rules.ts";

/** Creates the writer of values that ranks reported. */
export function createRankPointsWriter(ingest: RestoreClients["ingest"]): LineWriter {
  return async (lines, name, ids, ask) => {
    for (const [i, { run_id, key, columns }] of linesOfKinds(lines, "rank_points").entries()) {
      const request = {
        name: `${name}:${i}`,
        runId: ids.of("run", run_id),
        key,
        steps: bytesOfColumn(columns.step),
        values: bytesOfColumn(columns.value),
        ranks: bytesOfColumn(columns.rank),
        worldSizes: bytesOfColumn(columns.world_size),
        localRanks: bytesOfColumn(columns.local_rank),
        weights: bytesOfColumn(columns.weight),
        createdUs: bytesOfColumn(columns.created_at),
        timestampsUs: bytesOfTimestamps(columns.timestamp),
      };
      await ask((call) => ingest.restoreRankPoints(request, call));
    }
    return [];
  };
}
