import type { Db } from "@tidemark/pg";
import type {
  QueryMetricSeriesRequest,
  QueryMetricSeriesRequestSchema,
  QueryMetricSeriesResponseSchema,
} from "@tidemark/proto/ingest/v1/ingest";
import type { Handler } from "@tidemark/rpc";
import { visitKey } from "../domain/block-points.ts";
import { SERIES_POINTS_MAX, shareSeriesBudget, type SeriesBudget } from "../domain/series-budget.ts";
import { collectFirst, collectSample, type SeriesCollector } from "../domain/series-points.ts";
import { visitLandingRows } from "../store/list-landing-rows.ts";
import { listHeadsOfKey } from "../store/list-heads-of-key.ts";
import type { RunDirectory } from "../store/run-directory.ts";
import { pointColumns } from "./point-columns.ts";
import { callerOf, runIdOf } from "./request.ts";

/** IngestReadService.QueryMetricSeries. @throws not_found when any of the runs is not the caller's to see */
export function queryMetricSeriesHandler(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
}): Handler<typeof QueryMetricSeriesRequestSchema, typeof QueryMetricSeriesResponseSchema> {
  const { db, runs } = deps;
  return async (request, call) => {
    const caller = callerOf(call);
    const asked = request.runIds.map(runIdOf);
    const runIds = [...new Set(asked)];
    await runs.require(caller, runIds);
    const { key, startStep, endStep } = request;
    const range = { startStep, endStep };
    const budget = shareSeriesBudget(asked.length, request.limit, request.buckets);
    const collectors = await collectorsFor(db, caller.orgId, runIds, request, budget);
    await visitLandingRows(db, { orgId: caller.orgId, runIds, key, ...range }, (row) => {
      visitKey(row, key, range, collectors[row.place - 1]!.add);
    });
    const first = new Map(runIds.map((runId, place) => [runId, collectors[place]!]));
    const series = asked.map((runId) => {
      const collector = first.get(runId) ?? collectFirst(0);
      first.delete(runId);
      const { points, truncated, sampled } = collector.take();
      return { runId, points: pointColumns(points), truncated, sampled };
    });
    return {
      series,
      effectiveLimit: budget.limit,
      ...(budget.buckets === undefined ? {} : { effectiveBuckets: budget.buckets }),
      totalPointCap: SERIES_POINTS_MAX,
    };
  };
}

/** One collector per run: a sampler where buckets were asked for, apply, and the series is too long to be shown whole. */
async function collectorsFor(
  db: Db,
  orgId: string,
  runIds: readonly string[],
  request: QueryMetricSeriesRequest,
  budget: SeriesBudget,
): Promise<SeriesCollector[]> {
  const { buckets, wholeMax, limit } = budget;
  if (buckets === undefined || request.startStep !== undefined || request.endStep !== undefined) {
    return runIds.map(() => collectFirst(limit));
  }
  const heads = await db.withTenant(orgId, (tx) => listHeadsOfKey(tx, orgId, runIds, request.key));
  const long = new Map(heads.filter((head) => head.count > wholeMax).map((head) => [head.runId, head]));
  return runIds.map((runId) => {
    const head = long.get(runId);
    return head === undefined ? collectFirst(wholeMax) : collectSample(head, buckets);
  });
}
