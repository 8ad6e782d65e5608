import type { Db } from "@tidemark/pg";
import type { QueryMetricSeriesRequestSchema, QueryMetricSeriesResponseSchema } from "@tidemark/proto/ingest/v1/ingest";
import { callerOf, pathId, type RunDirectory } from "@tidemark/requests";
import type { Handler } from "@tidemark/rpc";
import { noPoints, pointColumns } from "./list-metric-points.ts";
import { listMetricVersions, readSeries } from "./metric-series.sql.ts";
import { isKnownTag, readTag } from "./read-tag.rules.ts";
import { SERIES_POINTS_MAX, shareSeriesBudget } from "./series-budget.rules.ts";

/** IngestReadService.QueryMetricSeries. @throws not_found when the caller may not see one of the runs */
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
    // A range of steps shows details: it is neither sampled nor returned whole beyond the limit.
    const buckets = startStep === undefined && endStep === undefined ? budget.buckets : undefined;
    const readLimit = buckets === undefined ? budget.limit : budget.wholeMax;
    const found = await readSeries(db, {
      orgId,
      runIds,
      key,
      range: { startStep, endStep },
      limit: readLimit,
      buckets,
    });
    const unseen = new Map(runIds.map((runId, i) => [runId, found[i]!]));
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
