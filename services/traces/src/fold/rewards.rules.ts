import { TRACE_LIMITS } from "@tidemark/limits";

/** Bytes of a reward in a summary without its key. */
export const REWARD_BYTES = 24;

/**
 * Returns the rewards that a summary has room for: those whose keys sort first, as far as 16 KiB go, ascending. With `more` also the next ones: if these
 * are known, rewards after the first of them can never be in the summary.
 */
export function firstRewards<Reward extends readonly [key: string, ...rest: unknown[]]>(
  rewards: readonly Reward[],
  more = 0,
): Reward[] {
  const sorted = rewards.toSorted(([a], [b]) => (a < b ? -1 : 1));
  let bytes = 0;
  const fitting = sorted.findIndex(([key]) => {
    bytes += Buffer.byteLength(key) + REWARD_BYTES;
    return bytes > TRACE_LIMITS.metricsBytesMax;
  });
  return fitting === -1 ? sorted : sorted.slice(0, fitting + more);
}
