import { SERIES_POINTS_MAX } from "../read/series-budget.rules.ts";

/** Most buckets of single runs that are in memory at a time. */
const READ_BUCKETS_MAX = 600_000;

/** Returns how many buckets to read series in, so that neither the answer nor its input has too many. */
export function groupBuckets(asked: number, groups: number, runs: number, keys: number): number {
  const answered = Math.floor(SERIES_POINTS_MAX / (groups * keys));
  return Math.max(1, Math.min(asked, answered, Math.floor(READ_BUCKETS_MAX / (runs * keys))));
}
