import type { Db } from "@tidemark/pg";
import type { QueryMetricSeriesRequestSchema, QueryMetricSeriesResponseSchema } from "@tidemark/proto/ingest/v1/ingest";
import { callerOf, pathId } from "@tidemark/requests";
import type { Handler } from "@tidemark/rpc";
import { isKnownTag, readTag } from "../domain/read-tag.ts";
import { SERIES_POINTS_MAX, shareSeriesBudget } from "../domain/series-budget.ts";
import type { RunDirectory } from "../runs/run-directory.ts";
import { listMetricVersions } from "../store/list-metric-versions.ts";
import { readSeries } from "../store/read-series.ts";
import { noPoints, pointColumns } from "./point-columns.ts";

/** IngestReadService.QueryMetricSeries. @throws not_found when any of the runs is not the caller's to see */
export function queryMetricSeriesHandler(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
}): Handler<typeof QueryMetricSeriesRequestSchema, typeof QueryMetricSeriesResponseSchema> {
  const { db, runs } = deps;
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const asked = request.runIds.map((runId) => pathId(runId, "run"));
    const runIds = [...new Set(asked)];
    await runs.require(caller, runIds);
    const { key, startStep, endStep, limit, knownTags } = request;
    const tagOf = (versions: readonly number[]) =>
      readTag(["series", asked, key, startStep, endStep, limit, request.buckets], versions);
    if (knownTags.length > 0) {
      const tag = tagOf(await listMetricVersions(db, orgId, runIds));
      if (isKnownTag(tag, knownTags)) return { tag, notModified: true };
    }
    const budget = shareSeriesBudget(asked.length, limit, request.buckets);
    // A range of steps is looked at closely: it is neither sampled nor whole beyond the limit.
    const buckets = startStep === undefined && endStep === undefined ? budget.buckets : undefined;
    const pointsMax = buckets === undefined ? budget.limit + 1 : budget.wholeMax;
    const found = await readSeries(db, { orgId, runIds, key, range: { startStep, endStep }, pointsMax, buckets });
    const unseen = new Map(runIds.map((runId, place) => [runId, found[place]!]));
    const series = asked.map((runId) => {
      const first = unseen.get(runId);
      unseen.delete(runId);
      if (first === undefined) return { runId, points: noPoints, truncated: false, sampled: false };
      return { runId, points: pointColumns(first.points), truncated: first.truncated, sampled: first.sampled };
    });
    return {
      series,
      effectiveLimit: budget.limit,
      ...(budget.buckets === undefined ? {} : { effectiveBuckets: budget.buckets }),
      totalPointCap: SERIES_POINTS_MAX,
      tag: tagOf(found.map(({ version }) => version)),
    };
  };
}
