import type { MessageInitShape } from "@bufbuild/protobuf";
import { LINE_LENGTHS_MAX, bytesOfColumn } from "@tidemark/archive";
import type { Db } from "@tidemark/pg";
import type { ExportRankPointsRequestSchema, ExportRankPointsResponseSchema } from "@tidemark/proto/ingest/v1/archive";
import { exportedRuns, type RunDirectory } from "@tidemark/requests";
import type { StreamHandler } from "@tidemark/rpc";
import { columnsOfBlock, columnsOfRows, type RankColumns } from "./rank-columns.rules.ts";
import { readRankBlocks, readRankRows, readRankSets, type StoredRankSet } from "./exported-rank-points.sql.ts";

type Message = MessageInitShape<typeof ExportRankPointsResponseSchema>;

/** IngestArchiveService.ExportRankPoints. @throws bad_request, not_found */
export function exportRankPointsHandler(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
}): StreamHandler<typeof ExportRankPointsRequestSchema, typeof ExportRankPointsResponseSchema> {
  return async function* (request, call) {
    const { orgId, runIds } = await exportedRuns(deps.runs, request.runIds, call);
    yield* deps.db.streamTenant(
      orgId,
      async function* (tx) {
        for await (const set of readRankSets(tx, orgId, runIds)) {
          const slots = set.keys.length;
          for await (const block of readRankBlocks(tx, orgId, set))
            yield* messagesOf(set, columnsOfBlock(block, slots));
          for await (const rows of readRankRows(tx, orgId, set)) yield* messagesOf(set, columnsOfRows(rows, slots));
        }
      },
      { plans: "walks" },
    );
  };
}

function* messagesOf(set: StoredRankSet, slots: readonly RankColumns[]): Generator<Message, void, undefined> {
  for (const [slot, columns] of slots.entries()) {
    for (let from = 0; from < columns.values.length; from += LINE_LENGTHS_MAX.rank_points) {
      const part = (column: Float64Array): Uint8Array =>
        bytesOfColumn(column.slice(from, from + LINE_LENGTHS_MAX.rank_points));
      const values = part(columns.values);
      const sent = columns.timestampsUs.slice(from, from + LINE_LENGTHS_MAX.rank_points);
      yield {
        runId: set.runId,
        key: set.keys[slot]!,
        steps: part(columns.steps),
        values,
        ranks: part(columns.ranks),
        worldSizes: bytesOfColumn(new Float64Array(values.length / 8).fill(set.worldSize)),
        localRanks: part(columns.localRanks),
        weights: part(columns.weights),
        createdUs: part(columns.createdUs),
        timestampsUs: sent.every(Number.isNaN) ? new Uint8Array() : bytesOfColumn(sent),
      };
    }
  }
}
