import type { MessageInitShape } from "@bufbuild/protobuf";
import { SERIES_POINTS } from "@tidemark/limits";
import type {
  GroupSeriesSchema,
  MetricGroupSchema,
  QueryMetricGroupsRequest,
  QueryMetricGroupsRequestSchema,
  QueryMetricGroupsResponseSchema,
} from "@tidemark/proto/ingest/v1/ingest";
import { callerOf } from "@tidemark/requests";
import type { Handler } from "@tidemark/rpc";
import { nextTurn } from "@tidemark/work";
import { axisOf, chartedRuns, smoothingOf, type RunsOfCharts } from "../columns/query-series-columns.ts";
import type { ColumnsQuery, SeriesColumns } from "../columns/series-columns.rules.ts";
import { readColumns, type ColumnsDeps } from "../columns/read-columns.ts";
import { requireKeys } from "../read/query-metric-series.ts";
import { SERIES_POINTS_MAX } from "../read/series-answer.rules.ts";
import {
  groupBuckets,
  sharedBuckets,
  type RunBuckets,
  readStatistics,
  statisticsOf,
  type Statistic,
} from "./statistics.rules.ts";

/**
 * IngestReadService.QueryMetricGroups. The runs and their groups are read from the runs service.
 * @throws bad_request, not_found when the caller may not see one of the runs that are named, run_search_invalid, run_search_too_broad
 */
export function queryMetricGroupsHandler(
  deps: ColumnsDeps & { readonly runsOfCharts: RunsOfCharts },
): Handler<typeof QueryMetricGroupsRequestSchema, typeof QueryMetricGroupsResponseSchema> {
  return async (request, call) => {
    const { orgId } = callerOf(call);
    const keys = requireKeys(request.keys);
    const wanted = readStatistics(request.stats);
    const shape = { axis: axisOf(request), smoothing: smoothingOf(request) };
    const { runIds: named, filter, by } = request;
    const { columns, groups } = await deps.runsOfCharts.groupRuns(
      {
        runIds: named,
        keys: [...keys],
        ...(filter === undefined ? {} : { filter }),
        ...(by === undefined ? {} : { by }),
      },
      call,
    );
    const runIds = groups.flatMap((group) => group.runIds);
    const facts = { columns, runCount: runIds.length, totalPointCap: SERIES_POINTS_MAX };
    if (runIds.length === 0) return { ...facts, groups: [], effectiveBuckets: request.buckets };
    const buckets = groupBuckets(request.buckets, groups.length, runIds.length, keys.length);
    const isTimed = shape.axis === "relative";
    const runs = await chartedRuns(deps.runsOfCharts, runIds, { lineage: false, isTimed }, call);
    const { series, grid } = await readColumns(deps, orgId, { ...queryOf(request, keys, buckets), ...shape }, runs);

    const takeTurn = turns();
    const answered: MessageInitShape<typeof MetricGroupSchema>[] = [];
    let first = 0;
    for (const { valuesJson, runIds: own, latest, best } of groups) {
      const ofRuns = series.slice(first, first + own.length);
      first += own.length;
      const ofKeys: MessageInitShape<typeof GroupSeriesSchema>[] = [];
      for (const [k, key] of keys.entries()) {
        const inGroup = [k * own.length, (k + 1) * own.length] as const;
        ofKeys.push({
          key,
          ...(await columnsOver(
            ofRuns.map((ofRun) => bucketsOf(ofRun[k]!)),
            { wanted, isStepped: shape.axis === "step" },
            takeTurn,
          )),
          latest: statisticsOf(known(latest.slice(...inGroup)), wanted),
          best: statisticsOf(known(best.slice(...inGroup)), wanted),
        });
      }
      answered.push({ valuesJson, runCount: own.length, series: ofKeys });
    }
    const bucketWidth = grid === undefined ? 0 : grid.span / grid.buckets;
    return { ...facts, groups: answered, effectiveBuckets: buckets, bucketWidth };
  };
}

function queryOf(
  { startStep, endStep }: QueryMetricGroupsRequest,
  keys: readonly string[],
  buckets: number,
): Omit<ColumnsQuery, "axis" | "smoothing"> {
  return {
    keys,
    startStep,
    endStep,
    afterStep: undefined,
    limit: SERIES_POINTS.max,
    buckets,
    edges: false,
    sharedGrid: true,
    alwaysBuckets: true,
  };
}

/** Returns the buckets with finite values of a series. */
function bucketsOf(columns: SeriesColumns): RunBuckets {
  const { sampled, step, x, smoothed } = columns;
  if (!sampled && step.length > 0) throw new Error("a series came without buckets");
  const mean = sampled && smoothed.length === 0 ? columns.mean : smoothed;
  const at = x.length === 0 ? step : x;
  if (!sampled || columns.nonFinite.length === 0) return { at, step, mean };
  const isKnown = (_: number, i: number): boolean => !Number.isNaN(mean[i]!);
  return { at: at.filter(isKnown), step: step.filter(isKnown), mean: mean.filter(isKnown) };
}

function known(values: readonly number[]): Float64Array {
  return Float64Array.from(values.filter((value) => !Number.isNaN(value)));
}

/** Computes the statistics of each bucket over its runs. */
async function columnsOver(
  runs: readonly RunBuckets[],
  { wanted, isStepped }: { readonly wanted: readonly Statistic[]; readonly isStepped: boolean },
  takeTurn: (work: number) => Promise<void> | undefined,
): Promise<Pick<MessageInitShape<typeof GroupSeriesSchema>, "step" | "x" | "columns">> {
  const steps: number[] = [];
  const x: number[] = [];
  const columns = wanted.map((): number[] => []);
  for (const { at, step, means } of sharedBuckets(runs)) {
    steps.push(step);
    if (!isStepped) x.push(at);
    statisticsOf(means, wanted).forEach((number, i) => columns[i]!.push(number));
    await takeTurn(runs.length + means.length * wanted.length + OVERHEAD);
  }
  return { step: steps, x, columns: columns.map((numbers) => ({ numbers })) };
}

/** The cost of a bucket in addition to its values. */
const OVERHEAD = 20;

/** Numbers that are handled without a pause, in a few milliseconds. */
const TURN_NUMBERS = 100_000;

/** Returns a function that lets other work run after a while. @throws deadline_exceeded when the request is over */
function turns(): (work: number) => Promise<void> | undefined {
  let left = TURN_NUMBERS;
  return (work) => {
    left -= work;
    if (left > 0) return undefined;
    left = TURN_NUMBERS;
    return nextTurn();
  };
}
