import { badRequest } from "@tidemark/errors";
import { METRIC_KEYS_MAX, RANK_SUMMARY, WORLD_SIZE_MAX } from "@tidemark/limits";

/** The most keys that a summary names. */
export const LISTED_KEYS_MAX = 200;

/**
 * Returns how many steps a summary has at most: the `asked` number, or fewer where the ranks of that many steps would exceed the pairs of a
 * summary. `worldSize` is the largest that was observed, 0 without any.
 */
export function stepLimit(asked: number, worldSize: number): number {
  return worldSize === 0 ? asked : Math.min(asked, Math.floor(RANK_SUMMARY.rowsMax / worldSize));
}

/** The data that one rank reported at one step, in addition to its metrics. */
export type RankReport = {
  /** Finite, from 0. */
  readonly step: number;
  /** 0 up to `worldSize`, which is 1 to 512. */
  readonly rank: number;
  readonly worldSize: number;
  /** The rank among the ranks of one machine, below `worldSize`. */
  readonly localRank: number;
  /** Finite, above 0. */
  readonly weight: number;
  /** The client's time in microseconds since the Unix epoch, null when the client sent none. */
  readonly timestampUs: number | null;
};

/** @throws bad_request for numbers out of their bounds */
export function checkRankReport(report: RankReport): void {
  const { step, rank, worldSize, localRank, weight } = report;
  if (!(Number.isFinite(step) && step >= 0)) throw badRequest("step must be a finite number of at least 0", "step");
  if (!(worldSize >= 1 && worldSize <= WORLD_SIZE_MAX)) {
    throw badRequest(`world_size must be from 1 to ${WORLD_SIZE_MAX}`, "world_size");
  }
  if (rank >= worldSize) throw badRequest("rank must be below world_size", "rank");
  if (localRank >= worldSize) throw badRequest("local_rank must be below world_size", "local_rank");
  if (!(Number.isFinite(weight) && weight > 0)) throw badRequest("weight must be a finite number above 0", "weight");
}

/** @throws bad_request for keys and values that do not fit together, are too many, not distinct or not finite */
export function checkRankValues(keys: readonly string[], values: readonly number[]): void {
  if (keys.length < 1 || keys.length > METRIC_KEYS_MAX) {
    throw badRequest(`metrics must have 1 to ${METRIC_KEYS_MAX} keys`, "metrics");
  }
  if (values.length !== keys.length) throw badRequest("metrics must have a value for each key", "metrics");
  if (!values.every(Number.isFinite)) throw badRequest("metrics must have finite values", "metrics");
  if (new Set(keys).size < keys.length) throw badRequest("metrics must have distinct keys", "metrics");
}
