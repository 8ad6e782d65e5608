/*
 * The sizes of stored metric data, each in one place. SQL has to repeat some of them; a test of the ingest service compares what it
 * says with these. The inner layout of segments and blocks is described in segments/segment-layout.ts and blocks/block-layout.ts.
 */

/** Keys of one aggregate page, a power of two: the aggregate of key id k is number k mod 32 of page k div 32. */
export const AGGREGATES_PER_PAGE = 32;

/** The numbers of an aggregate in the order in which a page holds them, one double each. */
export const AGGREGATE_NUMBERS = [
  "count",
  "mean",
  "m2",
  "min",
  "minStep",
  "max",
  "maxStep",
  "latest",
  "latestStep",
  "firstStep",
] as const;

/** Numbers of one aggregate. */
export const NUMBERS_PER_AGGREGATE = 10;

/**
 * What is known of the values of a key that are not finite, in the order in which the second array of a page holds it, one double each. A page without such
 * values has no second array.
 */
export const NON_FINITE_NUMBERS = ["nonFinite", "nonFiniteFirstStep", "nonFiniteStep"] as const;

/** Numbers of one key in the second array of a page. */
export const NUMBERS_PER_NON_FINITE = 3;

/** How many neighboring key ids a block may cover, widest first. A key range starts at a multiple of its width. */
export const KEY_RANGE_WIDTHS = [4096, 256, 16] as const;

/** The widest key range whose blocks have chunk statistics stored next to them. */
export const STATISTICS_WIDTH_MAX = 16;

/**
 * Bytes of the statistics of one chunk: nine doubles, little-endian, the first of them the number of values, the sixth the lowest value, which is NaN where a
 * value of the chunk is not finite.
 */
export const CHUNK_STATISTICS_BYTES = 72;

/** Bytes of the sum of one chunk, which is stored next to its statistics: two doubles, little-endian (numbers/exact-sum.ts). */
export const CHUNK_SUM_BYTES = 16;

/** Bytes of an entry in the directory of a block: the offset and the size of a key's section, u32 each, little-endian. */
export const DIRECTORY_ENTRY_BYTES = 8;
