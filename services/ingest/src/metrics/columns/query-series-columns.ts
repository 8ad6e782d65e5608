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
import type { Handler } from "@tidemark/rpc";
import { mapInTurns } from "@tidemark/work";
import { firstPlaces, pairsOf, requireKeys } from "../read/query-metric-series.ts";
import { listMetricVersions } from "../read/metric-series.sql.ts";
import { isKnownTag, readTag } from "../read/read-tag.rules.ts";
import { SERIES_POINTS_MAX } from "../read/series-budget.rules.ts";
import type { Axis, ColumnsQuery } from "./columns-plan.rules.ts";
import { chartedRuns, type RunsOfCharts } from "./charted-runs.ts";
import { readColumns, type ColumnsDeps } from "./read-columns.ts";
import { noColumns, type SeriesColumns } from "./series-columns.rules.ts";

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

function axisOf({ axis, axisKey }: QuerySeriesColumnsRequest): Axis {
  if (axis === SeriesAxis.METRIC) return { metric: axisKey };
  if (axis === SeriesAxis.TIME) return "time";
  return axis === SeriesAxis.RELATIVE ? "relative" : "step";
}

const KINDS = {
  [SmoothingKind.EMA]: "ema",
  [SmoothingKind.GAUSSIAN]: "gaussian",
  [SmoothingKind.MEAN]: "mean",
} as const;

function smoothingOf({ smoothing }: QuerySeriesColumnsRequest): Smoothing | undefined {
  if (smoothing === undefined) return undefined;
  if (smoothing.kind === SmoothingKind.UNSPECIFIED) throw badRequest("the kind of smoothing is unknown", "smoothing");
  return { kind: KINDS[smoothing.kind], parameter: smoothing.parameter };
}

function messageOf(runId: string, key: string, columns: SeriesColumns): MessageInitShape<typeof SeriesColumnsSchema> {
  const packed = Object.fromEntries(Object.entries(columns).filter(([, column]) => column instanceof Float64Array));
  const truncated = !columns.sampled && columns.truncated;
  return { runId, key, sampled: columns.sampled, truncated, ...packed };
}
