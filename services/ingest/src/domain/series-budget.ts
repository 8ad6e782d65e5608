/** Most points that one answer with many series holds (API specification, Limits). */
export const SERIES_POINTS_MAX = 120_000;
/** Most points of one series (API specification, Limits); more may be asked for, and counts as this. */
const SERIES_LIMIT_MAX = 5000;
/** A bucket is drawn by its first, last, lowest and highest point. */
const POINTS_PER_BUCKET = 4;

/** How many points each series may have. */
export type SeriesBudget = {
  /** Most points of a series that is not sampled. */
  readonly limit: number;
  /** Parts that a longer series is sampled in; undefined when none were asked for. */
  readonly buckets: number | undefined;
  /** The longest series that is returned whole although buckets were asked for. */
  readonly wholeMax: number;
};

/**
 * Shares the points of one answer between the series of a request.
 * @param runCount run ids in the request, repeats included, from 1
 * @param limit from 1
 * @param buckets from 1, or undefined
 */
export function shareSeriesBudget(runCount: number, limit: number, buckets: number | undefined): SeriesBudget {
  const share = SERIES_POINTS_MAX / runCount;
  const effectiveBuckets =
    buckets === undefined ? undefined : Math.min(buckets, Math.max(1, Math.floor(share / POINTS_PER_BUCKET)));
  return {
    limit: Math.min(limit, SERIES_LIMIT_MAX, Math.max(1, Math.floor(share))),
    buckets: effectiveBuckets,
    wholeMax: POINTS_PER_BUCKET * (effectiveBuckets ?? 0),
  };
}
