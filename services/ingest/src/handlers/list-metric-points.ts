import type { Db } from "@tidemark/pg";
import type { ListMetricPointsRequestSchema, ListMetricPointsResponseSchema } from "@tidemark/proto/ingest/v1/ingest";
import type { Handler } from "@tidemark/rpc";
import { collectBlock, visitKey } from "../domain/block-points.ts";
import { createFirstKeys } from "../domain/first-keys.ts";
import { visitLandingRows } from "../store/list-landing-rows.ts";
import type { RunDirectory } from "../store/run-directory.ts";
import { pointColumns } from "./point-columns.ts";
import { callerOf, runIdOf, throwFault } from "./request.ts";

/** Points that are collected before those that came too late in the order are let go. */
const PRUNE_EVERY = 50_000;

/** IngestReadService.ListMetricPoints. @throws not_found, bad_request */
export function listMetricPointsHandler(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
}): Handler<typeof ListMetricPointsRequestSchema, typeof ListMetricPointsResponseSchema> {
  const { db, runs } = deps;
  return async (request, call) => {
    const caller = callerOf(call);
    const runId = runIdOf(request.runId);
    await runs.require(caller, [runId]);
    throwFault(request.queryFault);
    const { key, startStep, endStep, limit } = request;
    const range = { startStep, endStep };
    const first = createFirstKeys(limit + 1);
    let collected = 0;
    await visitLandingRows(db, { orgId: caller.orgId, runIds: [runId], key, ...range }, (row) => {
      if (key !== undefined) {
        visitKey(row, key, range, first.collector(key)!.add);
        return;
      }
      collected += collectBlock(row, range, first);
      if (collected < PRUNE_EVERY) return;
      first.prune();
      collected = 0;
    });
    const { keys, more } = first.take(limit);
    return {
      keys: keys.map((found) => ({ key: found.key, points: pointColumns(found.points) })),
      truncated: more,
    };
  };
}
