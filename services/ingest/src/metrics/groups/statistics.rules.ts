import { badRequest } from "@tidemark/errors";
import { GROUP_STAT_SHAPE, GROUP_STATS_MAX } from "@tidemark/limits";
import { meanOf } from "@tidemark/codecs/metrics";
import { SERIES_POINTS_MAX } from "../read/series-answer.rules.ts";

/** A number that summarizes several values. */
export type Statistic = "mean" | "std" | "min" | "max" | "count" | { /** From 0 to 1. */ readonly quantile: number };

/** Reads the names of statistics: plain ones, and quantiles as percentages with at most three digits after the point, like p50 or p99.9. @throws bad_request */
export function readStatistics(names: readonly string[]): readonly Statistic[] {
  if (names.length === 0 || names.length > GROUP_STATS_MAX || new Set(names).size < names.length)
    throw badRequest(`stats must have 1 to ${GROUP_STATS_MAX} different items`, "stats");
  return names.map((name) => {
    const found = GROUP_STAT_SHAPE.exec(name);
    if (found === null)
      throw badRequest("stats must be mean, std, min, max, count, or quantiles from p0 to p100", "stats");
    return found[1] === undefined ? (name as Statistic) : { quantile: Number(found[1]) / 100 };
  });
}

/**
 * Returns statistics of values, which are finite; NaN of none, but a count of 0. `std` is the standard deviation of the population: the root of the mean of the squared
 * deviations from the mean.
 */
export function statisticsOf(values: Float64Array, wanted: readonly Statistic[]): number[] {
  if (values.length === 0) return wanted.map((statistic) => (statistic === "count" ? 0 : Number.NaN));
  const sorted = wanted.some((statistic) => typeof statistic === "object") ? values.toSorted() : values;
  return wanted.map((statistic) => {
    if (typeof statistic === "object") return quantileOf(sorted, statistic.quantile);
    if (statistic === "count") return values.length;
    if (statistic === "mean") return meanOf(values, 0, values.length);
    if (statistic === "std") return deviationOf(values);
    return statistic === "min" ? leastOf(values) : greatestOf(values);
  });
}

/** Deviations are halved, so that none is infinite, and scaled, so that no square exceeds a double. */
function deviationOf(values: Float64Array): number {
  const mean = meanOf(values, 0, values.length);
  const halves = values.map((value) => value / 2 - mean / 2);
  const largest = Math.max(greatestOf(halves), -leastOf(halves));
  if (largest === 0) return 0;
  let squares = 0;
  for (const half of halves) squares += (half / largest) ** 2;
  return largest * Math.sqrt(squares / values.length) * 2;
}

/**
 * Returns a quantile by linear interpolation between the two values around the place (n - 1) p, from 0 on (R. J. Hyndman and Y. Fan, "Sample Quantiles in
 * Statistical Packages", The American Statistician 50(4), 1996, type 7).
 */
function quantileOf(sorted: Float64Array, quantile: number): number {
  const place = (sorted.length - 1) * quantile;
  const below = sorted[Math.floor(place)]!;
  const above = sorted[Math.ceil(place)]!;
  const part = place - Math.floor(place);
  // Each product is finite where the difference of both values is not.
  return below === above ? below : Math.min(Math.max(below * (1 - part) + above * part, below), above);
}

function leastOf(values: Float64Array): number {
  let least = Infinity;
  for (const value of values) if (value < least) least = value;
  return least;
}

function greatestOf(values: Float64Array): number {
  let greatest = -Infinity;
  for (const value of values) if (value > greatest) greatest = value;
  return greatest;
}

/** Buckets of one run in ascending order, on a grid that all runs share. */
export type RunBuckets = {
  /** Where the buckets begin on the axis. */
  readonly at: Float64Array;
  /** The same for steps; for another axis the steps of their first points. */
  readonly step: Float64Array;
  readonly mean: Float64Array;
};

/** A bucket over several runs. */
type SharedBucket = {
  readonly at: number;
  /** The lowest of the runs. */
  readonly step: number;
  /** The means of the runs that have points in it, at least one; valid until the next bucket. */
  readonly means: Float64Array;
};

/** Yields the buckets in which at least one of the runs has points, in ascending order. A run without points in a bucket is left out of it. */
export function* sharedBuckets(runs: readonly RunBuckets[]): Generator<SharedBucket, void, undefined> {
  const next = new Uint32Array(runs.length);
  const means = new Float64Array(runs.length);
  for (;;) {
    let at = Infinity;
    runs.forEach((run, i) => (at = Math.min(at, run.at[next[i]!] ?? Infinity)));
    if (at === Infinity) return;
    let count = 0;
    let step = Infinity;
    runs.forEach((run, i) => {
      if (run.at[next[i]!] !== at) return;
      means[count++] = run.mean[next[i]!]!;
      step = Math.min(step, run.step[next[i]!]!);
      next[i]! += 1;
    });
    yield { at, step, means: means.subarray(0, count) };
  }
}

/** Most buckets of single runs that are in memory at a time. */
const READ_BUCKETS_MAX = 600_000;

/** Returns how many buckets to read series in, so that neither the answer nor its input has too many. */
export function groupBuckets(asked: number, groups: number, runs: number, keys: number): number {
  const answered = Math.floor(SERIES_POINTS_MAX / (groups * keys));
  return Math.max(1, Math.min(asked, answered, Math.floor(READ_BUCKETS_MAX / (runs * keys))));
}
