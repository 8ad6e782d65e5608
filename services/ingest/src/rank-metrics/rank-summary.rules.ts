import { areFinite } from "@tidemark/codecs/metrics";
import { RANK_SUMMARY } from "@tidemark/limits";
import type { RankEntries } from "./rank-entries.rules.ts";
import { createRankReducer, type RankReducer, type RankReducers } from "./rank-reducers.rules.ts";

/** One step with all its ranks taken together: their finite values, NaN without any. */
export type RankStep = RankReducers & {
  readonly step: number;
  /** How many ranks reported. */
  readonly rankCount: number;
  /** How many of them reported a value that is not finite. */
  readonly nonFinite: number;
  /** The largest world size that any of them reported. */
  readonly expectedWorldSize: number;
  readonly worldSizeMismatch: boolean;
  /** The ranks below the expected size that did not report, ascending; empty when the size is above 128. */
  readonly missingRanks: readonly number[];
};

/** Values of single ranks, as columns of one length. */
export type RankCells = {
  readonly steps: number[];
  readonly ranks: number[];
  readonly values: number[];
  /** The value minus the mean of the step; infinite where a double cannot hold it, NaN where the value is not finite. */
  readonly deltasFromMean: number[];
  /** The same in standard deviations; 0 where there is no deviation. */
  readonly zScores: number[];
};

/** How the ranks compare, step by step. */
export type RankSummary = {
  readonly steps: readonly RankStep[];
  /** By step, then by rank. */
  readonly heatmap: RankCells;
  /** The farthest first. */
  readonly outliers: RankCells;
  /** Whether cells were left out. */
  readonly heatmapTruncated: boolean;
  readonly outliersTruncated: boolean;
};

/** The most keys that a summary names. */
export const LISTED_KEYS_MAX = 200;

/**
 * Returns how many steps a summary has at most: the `asked` number, or fewer where the ranks of that many steps would exceed the pairs of a
 * summary. `worldSize` is the largest that was observed, 0 without any.
 */
export function stepLimit(asked: number, worldSize: number): number {
  return worldSize === 0 ? asked : Math.min(asked, Math.floor(RANK_SUMMARY.rowsMax / worldSize));
}

/** Entries of one step: those from `from` up to `to`. */
type Group = { readonly from: number; readonly to: number };
type Distances = { readonly deltas: Float64Array; readonly zScores: Float64Array };

/** Compares the ranks of entries that are in order of step and rank, one entry for each. */
export function summarizeRanks(entries: RankEntries): RankSummary {
  const count = entries.steps.length;
  const groups = groupsOf(entries.steps);
  const largest = groups.reduce((most, { from, to }) => Math.max(most, to - from), 0);
  const distances = { deltas: new Float64Array(count), zScores: new Float64Array(count) };
  const reduce = createRankReducer(largest);
  const steps = groups.map((group): RankStep => {
    const { from, to } = group;
    const values = entries.values.subarray(from, to);
    const weights = entries.weights.subarray(from, to);
    const zScores = distances.zScores.subarray(from, to);
    const isFinite = areFinite(values, 0, values.length);
    const reducers = isFinite ? reduce(values, weights, zScores) : reduceFinite(reduce, values, weights, zScores);
    for (let i = from; i < to; i++)
      distances.deltas[i] = Number.isFinite(entries.values[i]) ? entries.values[i]! - reducers.mean : Number.NaN;
    const nonFinite = isFinite ? 0 : values.filter((value) => !Number.isFinite(value)).length;
    return { step: entries.steps[from]!, ...coverageOf(entries, group), nonFinite, ...reducers };
  });
  const heatmapTruncated = count > RANK_SUMMARY.heatmapCellsMax;
  const shown = heatmapTruncated ? spread(groups, Math.floor(RANK_SUMMARY.heatmapCellsMax / largest)) : groups;
  const inHeatmap = shown.flatMap(({ from, to }) => Array.from({ length: to - from }, (_, i) => from + i));
  return {
    steps,
    heatmap: cellsOf(entries, distances, inHeatmap),
    outliers: cellsOf(entries, distances, farthest(distances)),
    heatmapTruncated,
    outliersTruncated: count > RANK_SUMMARY.outliersMax,
  };
}

const NO_VALUES: RankReducers = {
  mean: Number.NaN,
  weightedMean: Number.NaN,
  min: Number.NaN,
  max: Number.NaN,
  stddev: Number.NaN,
  p05: Number.NaN,
  p50: Number.NaN,
  p95: Number.NaN,
};

/** Reduces the finite ones of some values; the scores of the others are NaN. */
function reduceFinite(
  reduce: RankReducer,
  values: Float64Array,
  weights: Float64Array,
  zScores: Float64Array,
): RankReducers {
  zScores.fill(Number.NaN);
  const finite = [...values.keys()].filter((i) => Number.isFinite(values[i]));
  if (finite.length === 0) return NO_VALUES;
  const pick = (column: Float64Array): Float64Array => Float64Array.from(finite, (i) => column[i]!);
  const scores = new Float64Array(finite.length);
  const reducers = reduce(pick(values), pick(weights), scores);
  finite.forEach((i, at) => (zScores[i] = scores[at]!));
  return reducers;
}

function groupsOf(steps: Float64Array): Group[] {
  const groups: Group[] = [];
  for (let from = 0, to = 0; from < steps.length; from = to) {
    while (to < steps.length && steps[to] === steps[from]) to++;
    groups.push({ from, to });
  }
  return groups;
}

function coverageOf({ ranks, worldSizes }: RankEntries, { from, to }: Group) {
  let expectedWorldSize = 0;
  let smallest = Number.POSITIVE_INFINITY;
  for (let i = from; i < to; i++) {
    expectedWorldSize = Math.max(expectedWorldSize, worldSizes[i]!);
    smallest = Math.min(smallest, worldSizes[i]!);
  }
  return {
    rankCount: to - from,
    expectedWorldSize,
    worldSizeMismatch: smallest < expectedWorldSize,
    missingRanks:
      expectedWorldSize > RANK_SUMMARY.namedWorldMax ? [] : missing(ranks.subarray(from, to), expectedWorldSize),
  };
}

/** Returns the numbers below `count` that are not among the ranks. */
function missing(ranks: Uint16Array, count: number): number[] {
  if (ranks.length === count) return [];
  const seen = new Set(ranks);
  return Array.from({ length: count }, (_, rank) => rank).filter((rank) => !seen.has(rank));
}

/** Returns `kept` of the groups, at least two, evenly spaced from the first to the last. */
function spread(groups: readonly Group[], kept: number): Group[] {
  return Array.from({ length: kept }, (_, i) => groups[Math.round((i * (groups.length - 1)) / (kept - 1))]!);
}

/** Returns the indexes of the entries with finite values that lie farthest from their mean by standard deviations, then by distance; equal ones by step and rank. */
function farthest({ deltas, zScores }: Distances): number[] {
  const isFarther = (a: number, b: number): boolean => {
    const by = Math.abs(zScores[a]!) - Math.abs(zScores[b]!);
    return by === 0 ? Math.abs(deltas[a]!) > Math.abs(deltas[b]!) : by > 0;
  };
  const found: number[] = [];
  for (let entry = 0; entry < deltas.length; entry++) {
    if (Number.isNaN(zScores[entry])) continue;
    if (found.length === RANK_SUMMARY.outliersMax && !isFarther(entry, found[RANK_SUMMARY.outliersMax - 1]!)) continue;
    let at = found.length;
    while (at > 0 && isFarther(entry, found[at - 1]!)) at--;
    found.splice(at, 0, entry);
    if (found.length > RANK_SUMMARY.outliersMax) found.pop();
  }
  return found;
}

function cellsOf(entries: RankEntries, { deltas, zScores }: Distances, indexes: readonly number[]): RankCells {
  return {
    steps: indexes.map((index) => entries.steps[index]!),
    ranks: indexes.map((index) => entries.ranks[index]!),
    values: indexes.map((index) => entries.values[index]!),
    deltasFromMean: indexes.map((index) => deltas[index]!),
    zScores: indexes.map((index) => zScores[index]!),
  };
}
