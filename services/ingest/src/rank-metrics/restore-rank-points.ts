import { doublesOfBytes } from "@tidemark/archive";
import type { ChangePublisher } from "@tidemark/bus";
import { badRequest } from "@tidemark/errors";
import type { Db } from "@tidemark/pg";
import { ChangeKind } from "@tidemark/proto/changes/v1/changes";
import type {
  RestoreRankPointsRequest,
  RestoreRankPointsRequestSchema,
  RestoreRankPointsResponseSchema,
} from "@tidemark/proto/ingest/v1/restore";
import { callerOf, pathId, type RunDirectory } from "@tidemark/requests";
import type { Handler } from "@tidemark/rpc";
import { checkRankReport, checkRankValues } from "./rank-limits.rules.ts";
import { noteWrite } from "../writes/write-steps.ts";
import { restoreOnce } from "../writes/restore-once.ts";
import { restoreRankRows, type RankRows, type RestoredRankRow } from "./restored-rank-rows.sql.ts";

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
