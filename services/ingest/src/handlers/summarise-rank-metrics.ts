import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Db } from "@tidemark/pg";
import type {
  RankCellsSchema,
  RankStepsSchema,
  SummariseRankMetricsRequestSchema,
  SummariseRankMetricsResponseSchema,
} from "@tidemark/proto/ingest/v1/rank_metrics";
import { callerOf, pathId, throwFault } from "@tidemark/requests";
import type { Handler } from "@tidemark/rpc";
import { summariseRanks, type RankCells, type RankStep } from "../domain/rank-summary.ts";
import { readRankSummary } from "../store/read-rank-summary.ts";
import type { RunDirectory } from "../runs/run-directory.ts";

/** IngestReadService.SummariseRankMetrics. @throws not_found, then bad_request */
export function summariseRankMetricsHandler(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
}): Handler<typeof SummariseRankMetricsRequestSchema, typeof SummariseRankMetricsResponseSchema> {
  const { db, runs } = deps;
  return async (request, call) => {
    const caller = callerOf(call);
    const runId = pathId(request.runId, "run");
    await runs.require(caller, [runId]);
    throwFault(request.queryFault);
    const { key, startStep, endStep, limit } = request;
    const reading = await readRankSummary(db, { orgId: caller.orgId, runId, key, startStep, endStep, limit });
    const summary = summariseRanks(reading.entries);
    return {
      keys: [...reading.keys],
      ...(reading.key === null ? {} : { key: reading.key }),
      steps: stepsMessage(summary.steps),
      heatmap: cellsMessage(summary.heatmap),
      outliers: cellsMessage(summary.outliers),
      outlierZScores: summary.outliers.zScores,
      stepLimit: reading.stepLimit,
      heatmapTruncated: summary.heatmapTruncated,
      outliersTruncated: summary.outliersTruncated,
    };
  };
}

function stepsMessage(steps: readonly RankStep[]): MessageInitShape<typeof RankStepsSchema> {
  return {
    steps: steps.map(({ step }) => step),
    rankCounts: steps.map(({ rankCount }) => rankCount),
    expectedWorldSizes: steps.map(({ expectedWorldSize }) => expectedWorldSize),
    worldSizeMismatches: steps.map(({ worldSizeMismatch }) => worldSizeMismatch),
    means: steps.map(({ mean }) => mean),
    weightedMeans: steps.map(({ weightedMean }) => weightedMean),
    mins: steps.map(({ min }) => min),
    maxs: steps.map(({ max }) => max),
    stddevs: steps.map(({ stddev }) => stddev),
    p05s: steps.map(({ p05 }) => p05),
    p50s: steps.map(({ p50 }) => p50),
    p95s: steps.map(({ p95 }) => p95),
    missingRanks: steps.flatMap(({ missingRanks }) => missingRanks),
  };
}

function cellsMessage(cells: RankCells): MessageInitShape<typeof RankCellsSchema> {
  const { steps, ranks, values, deltasFromMean } = cells;
  return { steps, ranks, values, deltasFromMean };
}
