import { SERIES_POINTS } from "@tidemark/limits";
import { createHash } from "node:crypto";

/** Most points that one answer with many series holds (API specification, Limits). */
export const SERIES_POINTS_MAX = 120_000;
/** A bucket is drawn by its first, last, lowest and highest point. */
const POINTS_PER_BUCKET = 4;

/** How many points each series of an answer may have. */
type SeriesBudget = {
  /** The most points of a series that is not sampled. */
  readonly limit: number;
  /** The number of parts that a longer series is sampled in; undefined when the request names none. */
  readonly buckets: number | undefined;
  /** The most points of a series that is not sampled even if the request names buckets. */
  readonly unsampledMax: number;
};

/** Returns how many points to read in order to return the first `limit` of them and to know whether there are more. */
export function pointsToRead(limit: number): number {
  return limit + 1;
}

/**
 * Shares the points of one answer between the series of a request.
 * @param seriesCount keys times run ids of the request, repeats included, from 1
 * @param limit from 1
 * @param buckets from 1, or undefined
 */
export function shareSeriesBudget(seriesCount: number, limit: number, buckets: number | undefined): SeriesBudget {
  const share = SERIES_POINTS_MAX / seriesCount;
  const effectiveBuckets =
    buckets === undefined ? undefined : Math.min(buckets, Math.max(1, Math.floor(share / POINTS_PER_BUCKET)));
  return {
    limit: Math.min(limit, SERIES_POINTS.max, Math.max(1, Math.floor(share))),
    buckets: effectiveBuckets,
    unsampledMax: POINTS_PER_BUCKET * (effectiveBuckets ?? 0),
  };
}

/** Increase it when the answers to the same question about the same points change. */
const FORM = 1;
const TAG_BYTES = 15;
/** Matches every tag (RFC 9110, If-None-Match). */
const ANY = "*";

/**
 * Returns the tag of an answer to a question about runs: twenty characters of URL-safe text. Equal questions have equal tags while no run gets
 * points, because the version of a run rises with each of its writes.
 */
export function readTag(question: readonly unknown[], versions: readonly number[]): string {
  return createHash("sha256")
    .update(JSON.stringify([FORM, question, versions]))
    .digest()
    .subarray(0, TAG_BYTES)
    .toString("base64url");
}

/** Returns whether the answer with this tag is among those that the caller knows. */
export function isKnownTag(tag: string, known: readonly string[]): boolean {
  return known.includes(tag) || known.includes(ANY);
}
