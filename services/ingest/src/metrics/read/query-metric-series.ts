import { badRequest } from "@tidemark/errors";
import { SERIES_KEYS_MAX } from "@tidemark/limits";
import type { Db } from "@tidemark/pg";
import type {
  QueryMetricSeriesRequestSchema,
  QueryMetricSeriesResponseSchema,
  ListMetricPointsRequest,
  ListMetricPointsRequestSchema,
  ListMetricPointsResponseSchema,
  PointColumnsSchema,
} from "@tidemark/proto/ingest/v1/ingest";
import { callerOf, pathId, type RunDirectory, throwFault } from "@tidemark/requests";
import type { Handler } from "@tidemark/rpc";
import { mapInTurns } from "@tidemark/work";
import { listMetricVersions } from "./metric-series.sql.ts";
import { readSeries } from "./read-series.ts";
import { isKnownTag, readTag, SERIES_POINTS_MAX, shareSeriesBudget } from "./series-answer.rules.ts";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Points } from "./first-points.rules.ts";
import { readPoints } from "./metric-points.sql.ts";
import type { PointsReader } from "./series-reader.rules.ts";

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

/** IngestReadService.ListMetricPoints. @throws not_found, bad_request */
export function listMetricPointsHandler(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
}): Handler<typeof ListMetricPointsRequestSchema, typeof ListMetricPointsResponseSchema> {
  const { db, runs } = deps;
  return async (request, call) => {
    const caller = callerOf(call);
    const runId = pathId(request.runId, "run");
    await runs.require(caller, [runId]);
    throwFault(request.queryFault);
    const { key, startStep, endStep, limit, knownTags } = request;
    const tagOf = (version: number) => readTag(["points", runId, key, startStep, endStep, limit], [version]);
    if (knownTags.length > 0) {
      const [version] = await listMetricVersions(db, caller.orgId, [runId]);
      const tag = tagOf(version!);
      if (isKnownTag(tag, knownTags)) return { tag, notModified: true };
    }
    const { keys, truncated, version } = await pointsOf(db, caller.orgId, runId, request);
    return {
      keys: keys.map((found) => ({ key: found.key, points: pointColumns(found.points) })),
      truncated,
      tag: tagOf(version),
    };
  };
}

async function pointsOf(
  db: Db,
  orgId: string,
  runId: string,
  { key, startStep, endStep, limit }: ListMetricPointsRequest,
): Promise<ReturnType<PointsReader["take"]>> {
  const range = { startStep, endStep };
  if (key === undefined) return readPoints(db, { orgId, runId, range }, limit);
  const [run] = await readSeries(db, { orgId, runIds: [runId], keys: [key], range, limit, buckets: undefined });
  const { version, series } = run!;
  const { points, truncated } = series[0]!;
  return { keys: points.steps.length === 0 ? [] : [{ key, points }], truncated, version };
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

/** The message for no points. */
const noPoints: MessageInitShape<typeof PointColumnsSchema> = {};

/** Returns points as the message for answers. */
function pointColumns(points: Points): MessageInitShape<typeof PointColumnsSchema> {
  return {
    steps: packed(points.steps),
    values: packed(points.values),
    createdUs: packed(points.createdUs),
    timestampsUs: packed(points.timestampsUs),
  };
}

/** Returns a typed array as a packed field, without a copy: the encoder only counts and indexes the field, though its declaration says array. */
function packed(column: Float64Array): number[] {
  return column as unknown as number[];
}
