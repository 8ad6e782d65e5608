import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Db, Tx } from "@tidemark/pg";
import type {
  RankCellsSchema,
  RankStepsSchema,
  SummariseRankMetricsRequestSchema,
  SummariseRankMetricsResponseSchema,
} from "@tidemark/proto/ingest/v1/rank_metrics";
import { callerOf, pathId, throwFault, type RunDirectory } from "@tidemark/requests";
import type { Handler } from "@tidemark/rpc";
import {
  emptyEntries,
  joinEntries,
  newestEntries,
  newestSteps,
  type ArrivedEntries,
  type RankEntries,
} from "./rank-entries.rules.ts";
import {
  findStepFloor,
  listRankKeys,
  listRankSets,
  readRankValues,
  type RankSet,
  type RankRange,
} from "./rank-reads.sql.ts";
import { LISTED_KEYS_MAX, stepLimit, summarizeRanks, type RankCells, type RankStep } from "./rank-summary.rules.ts";

/** IngestReadService.SummariseRankMetrics. @throws not_found, then bad_request */
export function summarizeRankMetricsHandler(deps: {
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
    const summary = summarizeRanks(reading.entries);
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

/** Which rank metrics of a run to read. */
export type RankQuery = {
  readonly orgId: string;
  readonly runId: string;
  /** Undefined: the first key of the run. */
  readonly key: string | undefined;
  /** Inclusive bounds; undefined: none. */
  readonly startStep: number | undefined;
  readonly endStep: number | undefined;
  /** How many of the newest steps to read; fewer are read where there are many ranks. */
  readonly limit: number;
};

/** The rank metrics that were read. */
export type RankReading = {
  readonly keys: readonly string[];
  /** Null when the run has no key. */
  readonly key: string | null;
  readonly entries: RankEntries;
  /** The limit that was applied. */
  readonly stepLimit: number;
};

/** Sets that one statement reads: each may have as many values as the whole answer. */
const SETS_TOGETHER = 16;
/** How many entries are collected before the newest are selected. */
const ENTRIES_TOGETHER = 4 * 65_536;

/** Reads the newest value of each rank at the newest steps of one key, all as of one moment. */
export function readRankSummary(db: Db, query: RankQuery): Promise<RankReading> {
  const { orgId, runId, limit } = query;
  return db.readTenant(orgId, async (tx) => {
    const keys = query.key === undefined ? await listRankKeys(tx, orgId, runId, LISTED_KEYS_MAX) : [query.key];
    const key = keys[0];
    if (key === undefined) return { keys, key: null, entries: emptyEntries(0), stepLimit: limit };
    const range = { orgId, runId, from: query.startStep ?? 0, to: query.endStep ?? Number.POSITIVE_INFINITY };
    const sets = await listRankSets(tx, range, key);
    const steps = stepLimit(limit, Math.max(0, ...sets.map(({ worldSize }) => worldSize)));
    const entries = sets.length === 0 ? emptyEntries(0) : newestSteps(await readNewest(tx, range, sets, steps), steps);
    return { keys, key, entries, stepLimit: steps };
  });
}

/** Reads the newest value of each rank at the newest `stepsMax` steps, and perhaps at some steps before them. */
async function readNewest(
  tx: Tx,
  range: RankRange,
  sets: readonly RankSet[],
  stepsMax: number,
): Promise<ArrivedEntries> {
  const from = await findStepFloor(tx, range, sets, stepsMax);
  let parts: ArrivedEntries[] = [];
  let count = 0;
  for (let at = 0; at < sets.length; at += SETS_TOGETHER) {
    const read = await readRankValues(tx, { ...range, from }, sets.slice(at, at + SETS_TOGETHER));
    for (const part of read) {
      parts.push(part);
      count += part.steps.length;
    }
    if (count < ENTRIES_TOGETHER) continue;
    parts = [newestEntries(joinEntries(parts))];
    count = parts[0]!.steps.length;
  }
  return newestEntries(joinEntries(parts));
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
    nonFinite: steps.some(({ nonFinite }) => nonFinite > 0) ? steps.map(({ nonFinite }) => nonFinite) : [],
  };
}

function cellsMessage(cells: RankCells): MessageInitShape<typeof RankCellsSchema> {
  const { steps, ranks, values, deltasFromMean } = cells;
  return { steps, ranks, values, deltasFromMean };
}
