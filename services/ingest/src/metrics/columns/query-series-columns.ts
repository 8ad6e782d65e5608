import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import { SERIES_POINTS } from "@tidemark/limits";
import type { Smoothing } from "@tidemark/codecs/metrics";
import {
  SeriesAxis,
  SmoothingKind,
  type QuerySeriesColumnsRequest,
  type QuerySeriesColumnsRequestSchema,
  type QuerySeriesColumnsResponseSchema,
  type SeriesColumnsSchema,
} from "@tidemark/proto/ingest/v1/ingest";
import { callerOf, pathId, type RunDirectory } from "@tidemark/requests";
import type { Handler, Call, Client } from "@tidemark/rpc";
import { mapInTurns } from "@tidemark/work";
import { firstPlaces, pairsOf, requireKeys } from "../read/query-metric-series.ts";
import { listMetricVersions } from "../read/metric-series.sql.ts";
import { isKnownTag, readTag, SERIES_POINTS_MAX } from "../read/series-answer.rules.ts";
import {
  type Axis,
  type ColumnsQuery,
  noColumns,
  type SeriesColumns,
  type ChartedRun,
  type Source,
} from "./series-columns.rules.ts";
import { readColumns, type ColumnsDeps } from "./read-columns.ts";
import type { RunChain, RunsService } from "@tidemark/proto/runs/v1/runs";

/** The RPCs of the runs service that are used here. */
export type RunsOfCharts = Pick<Client<(typeof RunsService)["method"]>, "listRunOrigins" | "groupRuns">;

/** IngestReadService.QuerySeriesColumns. @throws not_found when the caller may not see one of the runs, bad_request */
export function querySeriesColumnsHandler(
  deps: ColumnsDeps & { readonly runs: RunDirectory; readonly runsOfCharts: RunsOfCharts },
): Handler<typeof QuerySeriesColumnsRequestSchema, typeof QuerySeriesColumnsResponseSchema> {
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const asked = request.runIds.map((runId) => pathId(runId, "run"));
    const runIds = [...new Set(asked)];
    await deps.runs.require(caller, runIds);
    const query = queryOf(request, asked.length);
    const wanted = { lineage: request.lineage, isTimed: query.axis === "relative" };
    const charted = await chartedRuns(deps.runsOfCharts, runIds, wanted, call);
    const tagOf = (versions: readonly number[]): string => readTag(["columns", asked, charted, query], versions);
    const sources = charted.flatMap(({ chain }) => chain.map(({ runId }) => runId));
    if (request.knownTags.length > 0) {
      const tag = tagOf(await listMetricVersions(deps.db, orgId, sources));
      if (isKnownTag(tag, request.knownTags)) return { tag, notModified: true };
    }
    const { versions, series } = await readColumns(deps, orgId, query, charted);
    const places = firstPlaces(asked);
    return {
      series: await mapInTurns(pairsOf(query.keys, asked), ([key, runId, k, i]) => {
        const place = places[i];
        return messageOf(runId, key, place === undefined ? noColumns : series[place]![k]!);
      }),
      effectiveLimit: query.limit,
      ...(query.buckets === undefined ? {} : { effectiveBuckets: query.buckets }),
      totalPointCap: SERIES_POINTS_MAX,
      tag: tagOf(versions),
    };
  };
}

function queryOf(request: QuerySeriesColumnsRequest, runCount: number): ColumnsQuery {
  const keys = requireKeys(request.keys);
  const { startStep, endStep, afterStep, edges, sharedGrid } = request;
  const share = Math.max(1, Math.floor(SERIES_POINTS_MAX / (keys.length * runCount)));
  return {
    keys,
    startStep,
    endStep,
    afterStep,
    limit: Math.min(request.limit, SERIES_POINTS.max, share),
    buckets: request.buckets === undefined ? undefined : Math.min(request.buckets, share),
    edges,
    sharedGrid,
    axis: axisOf(request),
    smoothing: smoothingOf(request),
  };
}

/** Reads the axis of a request. */
export function axisOf({ axis, axisKey }: Pick<QuerySeriesColumnsRequest, "axis" | "axisKey">): Axis {
  if (axis === SeriesAxis.METRIC) return { metric: axisKey };
  if (axis === SeriesAxis.TIME) return "time";
  return axis === SeriesAxis.RELATIVE ? "relative" : "step";
}

const KINDS = {
  [SmoothingKind.EMA]: "ema",
  [SmoothingKind.GAUSSIAN]: "gaussian",
  [SmoothingKind.MEAN]: "mean",
} as const;

/** Reads how a request wants series smoothed. @throws bad_request */
export function smoothingOf({ smoothing }: Pick<QuerySeriesColumnsRequest, "smoothing">): Smoothing | undefined {
  if (smoothing === undefined) return undefined;
  if (smoothing.kind === SmoothingKind.UNSPECIFIED) throw badRequest("the kind of smoothing is unknown", "smoothing");
  return { kind: KINDS[smoothing.kind], parameter: smoothing.parameter };
}

function messageOf(runId: string, key: string, columns: SeriesColumns): MessageInitShape<typeof SeriesColumnsSchema> {
  const packed = Object.fromEntries(Object.entries(columns).filter(([, column]) => column instanceof Float64Array));
  const truncated = !columns.sampled && columns.truncated;
  return { runId, key, sampled: columns.sampled, truncated, ...packed };
}

/**
 * Returns the sources of the points of runs. For forks, `lineage` adds the points of their ancestors up to the steps of the forks, as far as the caller may
 * see them; `isTimed` asks when the runs started. @throws not_found when the caller may not see one of the runs
 */
export async function chartedRuns(
  runs: Pick<RunsOfCharts, "listRunOrigins">,
  runIds: readonly string[],
  { lineage, isTimed }: { readonly lineage: boolean; readonly isTimed: boolean },
  call: Call,
): Promise<ChartedRun[]> {
  if (!lineage && !isTimed) return runIds.map((runId) => ({ chain: [{ runId, cutStep: Infinity }], startedUs: 0 }));
  const { chains } = await runs.listRunOrigins({ runIds: [...runIds], withAncestors: lineage }, call);
  return chains.map((chain) => ({ chain: sourcesOf(chain), startedUs: isTimed ? chain.runs[0]!.startedUs : 0 }));
}

/** Returns the sources of a run, the oldest ancestor first; points after the step of a fork are not part of it. */
function sourcesOf({ runs }: RunChain): Source[] {
  const sources: Source[] = [];
  let cutStep = Infinity;
  for (const { runId, forkedFromStep } of runs) {
    sources.unshift({ runId, cutStep });
    cutStep = Math.min(cutStep, forkedFromStep ?? cutStep);
  }
  return sources;
}
