import type { MessageInitShape } from "@bufbuild/protobuf";
import { LINE_LENGTHS_MAX, bytesOfColumn, doublesOfBytes } from "@tidemark/archive";
import type { Db } from "@tidemark/pg";
import type { ExportRankPointsRequestSchema, ExportRankPointsResponseSchema } from "@tidemark/proto/ingest/v1/archive";
import { exportedRuns, type RunDirectory, callerOf, pathId } from "@tidemark/requests";
import type { StreamHandler, Handler } from "@tidemark/rpc";
import { columnsOfBlock, columnsOfRows, type RankColumns } from "./rank-columns.rules.ts";
import {
  readRankBlocks,
  readRankRows,
  readRankSets,
  type StoredRankSet,
  restoreRankRows,
  type RankRows,
  type RestoredRankRow,
} from "./archived-rank-points.sql.ts";
import type { ChangePublisher } from "@tidemark/bus";
import { badRequest } from "@tidemark/errors";
import { ChangeKind } from "@tidemark/proto/changes/v1/changes";
import type {
  RestoreRankPointsRequest,
  RestoreRankPointsRequestSchema,
  RestoreRankPointsResponseSchema,
} from "@tidemark/proto/ingest/v1/restore";
import { checkRankReport, checkRankValues } from "./rank-reports.rules.ts";
import { noteWrite, restoreOnce } from "../writes/write-steps.ts";

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

/** IngestRestoreService.RestoreRankPoints. Of two values of one step and rank, the last received one is kept. @throws see restore.proto */
export function restoreRankPointsHandler(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
  readonly noteChange: ChangePublisher["note"];
}): Handler<typeof RestoreRankPointsRequestSchema, typeof RestoreRankPointsResponseSchema> {
  const { db, runs } = deps;
  return async (request, call) => {
    const caller = callerOf(call);
    const runId = pathId(request.runId, "run");
    await runs.require(caller, [runId]);
    const { orgId } = caller;
    const { name, key, steps, values, ranks, worldSizes, localRanks, weights, createdUs, timestampsUs } = request;
    const groups = groupsOf(request);
    const parts = [runId, key, steps, values, ranks, worldSizes, localRanks, weights, createdUs, timestampsUs];
    await restoreOnce(db, { orgId, name, parts }, async (tx) => {
      for (const group of groups) await restoreRankRows(tx, { orgId, runId, key, ...group });
    });
    noteWrite(deps, caller, { runId, kind: ChangeKind.POINTS });
    return {};
  };
}

/** Returns the rows by world size, because keys have a place for each. @throws bad_request */
function groupsOf(request: RestoreRankPointsRequest): Pick<RankRows, "worldSize" | "rows">[] {
  const [steps, values, ranks, worldSizes, localRanks, weights, received, sent] = [
    request.steps,
    request.values,
    request.ranks,
    request.worldSizes,
    request.localRanks,
    request.weights,
    request.createdUs,
    request.timestampsUs,
  ].map(doublesOfBytes) as [Float64Array, ...Float64Array[]];
  const columns = [steps, values, ranks, worldSizes, localRanks, weights, received] as Float64Array[];
  if (columns.some(({ length }) => length !== steps.length) || ![0, steps.length].includes(sent!.length)) {
    throw badRequest("the columns differ in length", "values");
  }
  const groups = new Map<number, Map<string, RestoredRankRow>>();
  for (let i = 0; i < steps.length; i++) {
    const [worldSize, rank, localRank] = [worldSizes![i]!, ranks![i]!, localRanks![i]!];
    if (![worldSize, rank, localRank].every((number) => Number.isInteger(number) && number >= 0)) {
      throw badRequest("ranks are whole numbers from 0", "ranks");
    }
    const report = { step: steps[i]!, rank, worldSize, localRank, weight: weights![i]!, timestampUs: null };
    checkRankReport(report);
    checkRankValues([request.key], [values![i]!]);
    const row = {
      step: report.step,
      rank,
      localRank,
      weight: report.weight,
      value: values![i]!,
      receivedUs: received![i]!,
      sentUs: sent![i] ?? Number.NaN,
    };
    const rows = groups.get(worldSize) ?? new Map<string, RestoredRankRow>();
    groups.set(worldSize, rows);
    const place = `${row.step} ${rank}`;
    if ((rows.get(place)?.receivedUs ?? -Infinity) <= row.receivedUs) rows.set(place, row);
  }
  return [...groups].map(([worldSize, rows]) => ({ worldSize, rows: [...rows.values()] }));
}
