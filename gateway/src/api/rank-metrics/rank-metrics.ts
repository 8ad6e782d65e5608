import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import type {
  AppendRankMetricsRequestSchema,
  AppendRankMetricsResponse,
  RankCells,
  RankSteps,
  SummariseRankMetricsRequestSchema,
  SummariseRankMetricsResponse,
} from "@tidemark/proto/ingest/v1/rank_metrics";
import { anyNumberJson } from "@tidemark/values";
import { RANK_SUMMARY, SERIES_POINTS, WORLD_SIZE_MAX } from "@tidemark/limits";
import type { RouteInput, RouteReply } from "../../route.ts";
import { raw, type Json, type RawJson } from "../../http/json.ts";
import {
  described,
  join,
  object,
  optional,
  readField,
  required,
  withDefault,
  withFault,
  type Fields,
} from "../fields/field.ts";
import { integer, limit, number, queryStepRange } from "../fields/number.ts";
import { metricPoint, readMetricPoint } from "../metrics/append.ts";
import { textOrAbsent } from "../fields/text.ts";

const report = object({
  rank: described(integer({ min: 0 }), "Below `world_size`.", { maximum: WORLD_SIZE_MAX - 1 }),
  world_size: integer({ min: 1, max: WORLD_SIZE_MAX }),
  local_rank: described(
    optional(integer({ min: 0 })),
    "The rank among those of one machine, below `world_size`; `rank` unless given.",
    { maximum: WORLD_SIZE_MAX - 1 },
  ),
});

const anyWeight = number();
const weight = described(
  withDefault(
    required({ type: "number", exclusiveMinimum: 0 }, (value, name) => {
      const found = anyWeight.check(value, name);
      if (found <= 0) throw badRequest(`${name} must be a finite number above 0`, name);
      return found;
    }),
    1,
    { default: 1 },
  ),
  "The share of the rank in weighted means.",
);

/** Body of POST /runs/{run_id}/rank-metrics: a metric point and its rank. */
export const appendRankMetricsBody = join(join(metricPoint, report), object({ weight }));

/** POST /runs/{run_id}/rank-metrics. Faults of the body travel in the message, because a missing run takes precedence. */
export function decodeAppendRankMetrics({
  params,
  body,
  idempotencyKey = "",
}: RouteInput): MessageInitShape<typeof AppendRankMetricsRequestSchema> {
  const { value, fault } = withFault(() => readReport(body));
  return { runId: params["run_id"]!, idempotencyKey, ...value, bodyFault: fault };
}

/** `{"inserted": n}`, the number of values. */
export function encodeAppendRankMetrics(response: AppendRankMetricsResponse): RouteReply {
  return { body: { inserted: response.inserted }, replayed: response.replayed };
}

function readReport(body: Fields) {
  const { keys, values, steps, timestampsUs } = readMetricPoint(body);
  const { rank, worldSize, localRank = rank } = report.read(body);
  if (rank >= worldSize) throw badRequest("rank must be below world_size", "rank");
  if (localRank >= worldSize) throw badRequest("local_rank must be below world_size", "local_rank");
  return {
    keys,
    values,
    step: steps![0]!,
    rank,
    worldSize,
    localRank,
    weight: readField(weight, body, "weight"),
    timestampUs: timestampsUs![0],
  };
}

/** Query of GET /api/runs/{run_id}/rank-metrics/summary. */
export const summarizeRanksQuery = join(
  join(object({ key: described(textOrAbsent(), "The first key in alphabetical order unless given.") }), queryStepRange),
  object({ limit: described(limit(SERIES_POINTS), "Steps.") }),
);

/** GET /api/runs/{run_id}/rank-metrics/summary. Faults of the query travel in the message, because a missing run takes precedence. */
export function decodeSummariseRankMetrics({
  params,
  query,
}: RouteInput): MessageInitShape<typeof SummariseRankMetricsRequestSchema> {
  const { value, fault } = withFault(() => summarizeRanksQuery.read(query));
  return { runId: params["run_id"]!, ...value, queryFault: fault };
}

/** The steps of a key with their ranks reduced, the values of single ranks, and the bounds that were applied. */
export function encodeSummariseRankMetrics(
  response: SummariseRankMetricsResponse,
  request: ReturnType<typeof decodeSummariseRankMetrics>,
): RouteReply {
  const steps = response.steps!;
  return {
    body: {
      keys: response.keys,
      key: response.key ?? null,
      reducers: steps.steps.map((step, i) => reducersOf(steps, step, i)),
      heatmap: writeHeatmap(response.heatmap!),
      outliers: outliersOf(response),
      coverage: coverageOf(steps),
      limits: {
        step_limit: response.stepLimit,
        max_world_size: WORLD_SIZE_MAX,
        max_canonical_rows: RANK_SUMMARY.rowsMax,
        max_heatmap_cells: RANK_SUMMARY.heatmapCellsMax,
        outlier_limit: RANK_SUMMARY.outliersMax,
      },
      truncated: {
        steps: response.stepLimit < (request.limit ?? 0),
        heatmap: response.heatmapTruncated,
        outliers: response.outliersTruncated,
      },
    },
  };
}

function reducersOf(columns: RankSteps, step: number, i: number): Json {
  return {
    step,
    rank_count: columns.rankCounts[i]!,
    expected_world_size: columns.expectedWorldSizes[i]!,
    world_size_mismatch: columns.worldSizeMismatches[i]!,
    mean: columns.means[i]!,
    weighted_mean: columns.weightedMeans[i]!,
    min: columns.mins[i]!,
    max: columns.maxs[i]!,
    stddev: columns.stddevs[i]!,
    p05: columns.p05s[i]!,
    p50: columns.p50s[i]!,
    p95: columns.p95s[i]!,
    non_finite: columns.nonFinite[i] || undefined,
  };
}

/** Written as text, because it may have thousands of cells. */
function writeHeatmap({ steps, ranks, values, deltasFromMean }: RankCells): RawJson {
  const cells = steps.map(
    (step, i) =>
      `{"step":${step},"rank":${ranks[i]!},"value":${anyNumberJson(values[i]!)},"delta_from_mean":${finite(deltasFromMean[i]!)}}`,
  );
  return raw(`[${cells.join(",")}]`);
}

function outliersOf({ outliers, outlierZScores }: SummariseRankMetricsResponse): Json {
  const { steps, ranks, values, deltasFromMean } = outliers!;
  return steps.map((step, i) => ({
    rank: ranks[i]!,
    step,
    value: values[i]!,
    delta_from_mean: finite(deltasFromMean[i]!),
    z_score: outlierZScores[i]!,
  }));
}

function coverageOf(columns: RankSteps): Json {
  let named = 0;
  return columns.steps.map((step, i) => {
    const expected = columns.expectedWorldSizes[i]!;
    const missing = expected - columns.rankCounts[i]!;
    const from = named;
    if (expected <= RANK_SUMMARY.namedWorldMax) named += missing;
    return {
      step,
      rank_count: columns.rankCounts[i]!,
      expected_world_size: expected,
      missing_rank_count: missing,
      missing_ranks: columns.missingRanks.slice(from, named),
      world_size_mismatch: columns.worldSizeMismatches[i]!,
    };
  });
}

/** Returns null for what JSON cannot hold: the difference of two doubles can be infinite, and that of another value is none. */
function finite(number: number): number | null {
  return Number.isFinite(number) ? number : null;
}
