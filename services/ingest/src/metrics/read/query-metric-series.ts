import { badRequest } from "@tidemark/errors";
import { SERIES_KEYS_MAX } from "@tidemark/limits";
import type { Db } from "@tidemark/pg";
import type { QueryMetricSeriesRequestSchema, QueryMetricSeriesResponseSchema } from "@tidemark/proto/ingest/v1/ingest";
import { callerOf, pathId, type RunDirectory } from "@tidemark/requests";
import type { Handler } from "@tidemark/rpc";
import { mapInTurns } from "@tidemark/work";
import { noPoints, pointColumns } from "./list-metric-points.ts";
import { listMetricVersions } from "./metric-series.sql.ts";
import { readSeries } from "./read-series.ts";
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
    const { startStep, endStep, limit, knownTags } = request;
    const keys = requireKeys(request.keys);
    const tagOf = (versions: readonly number[]) =>
      readTag(["series", asked, ...keys, startStep, endStep, limit, request.buckets], versions);
    if (knownTags.length > 0) {
      const tag = tagOf(await listMetricVersions(db, orgId, runIds));
      if (isKnownTag(tag, knownTags)) return { tag, notModified: true };
    }
    const budget = shareSeriesBudget(keys.length * asked.length, limit, request.buckets);
    // A range of steps shows details: it is neither sampled nor returned whole beyond the limit.
    const buckets = startStep === undefined && endStep === undefined ? budget.buckets : undefined;
    const readLimit = buckets === undefined ? budget.limit : budget.unsampledMax;
    const found = await readSeries(db, {
      orgId,
      runIds,
      keys,
      range: { startStep, endStep },
      limit: readLimit,
      buckets,
    });
    const places = firstPlaces(asked);
    const series = await mapInTurns(pairsOf(keys, asked), ([, runId, k, i]) => {
      const place = places[i];
      if (place === undefined) return { runId, points: noPoints, truncated: false, sampled: false };
      const { points, truncated, sampled } = found[place]!.series[k]!;
      return { runId, points: pointColumns(points), truncated, sampled };
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

/** Returns the keys of a request. @throws bad_request for none, more than 50, and a repeated key */
export function requireKeys(keys: readonly string[]): readonly string[] {
  if (keys.length === 0 || keys.length > SERIES_KEYS_MAX || new Set(keys).size < keys.length) {
    throw badRequest(`keys must have 1 to ${SERIES_KEYS_MAX} different items`, "keys");
  }
  return keys;
}

/** Returns each key with each run, which may be 100,000 pairs, by key, with their indexes. */
export function pairsOf(
  keys: readonly string[],
  runIds: readonly string[],
): (readonly [key: string, runId: string, keyIndex: number, runIndex: number])[] {
  return keys.flatMap((key, k) => runIds.map((runId, i) => [key, runId, k, i] as const));
}

/** Returns the place of each id among the distinct ids, and undefined where an id is repeated. */
export function firstPlaces(ids: readonly string[]): (number | undefined)[] {
  const seen = new Set<string>();
  return ids.map((id) => {
    if (seen.has(id)) return undefined;
    seen.add(id);
    return seen.size - 1;
  });
}
