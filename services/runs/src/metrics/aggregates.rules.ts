import { badRequest } from "@tidemark/errors";
import { compareKeyBytes } from "@tidemark/codecs/metrics";

/** A page of the key aggregates of one run, as the statements return it; columns are null when the page is empty. */
export type MetricRow = {
  /** The keys in code point order, separated by NUL. */
  readonly metric_keys: Buffer | null;
  /** How many keys match, including those beyond the limit. */
  readonly metric_total: number;
  // A big-endian double per key, in the order of the keys; NaN, and a count of 0, where no value is finite.
  readonly metric_latest: Buffer | null;
  readonly metric_min: Buffer | null;
  readonly metric_max: Buffer | null;
  readonly metric_mean: Buffer | null;
  /** NaN where a double cannot hold it. */
  readonly metric_variance: Buffer | null;
  readonly metric_count: Buffer | null;
  readonly metric_best: Buffer | null;
  readonly metric_best_step: Buffer | null;
  /** The step of the latest value. */
  readonly metric_latest_step: Buffer | null;
  /** Two doubles per key: how many values are not finite, and their highest step. Null or zeros where no key has any. */
  readonly metric_non_finite: Buffer | null;
};

/** The row of a run without metrics, or whose metrics were not requested. */
export const NO_METRICS: MetricRow = {
  metric_keys: null,
  metric_total: 0,
  metric_latest: null,
  metric_min: null,
  metric_max: null,
  metric_mean: null,
  metric_variance: null,
  metric_count: null,
  metric_best: null,
  metric_best_step: null,
  metric_latest_step: null,
  metric_non_finite: null,
};

/** Returns the keys of a row. */
export function metricKeysOf({ metric_keys: packed }: Pick<MetricRow, "metric_keys">): string[] {
  return packed === null ? [] : packed.toString("utf8").split("\0");
}

/** The numbers shown of each key, a column each in the order of the keys; a variance that a double cannot hold is NaN. */
type NumberColumns = {
  readonly latest: number[];
  readonly min: number[];
  readonly max: number[];
  readonly mean: number[];
  readonly variance: number[];
  readonly count: number[];
  readonly best: number[];
  readonly bestStep: number[];
  readonly latestStep: number[];
  /** Empty where no key has values that are not finite. */
  readonly nonFinite: number[];
  readonly nonFiniteStep: number[];
};

/** Returns the numbers of a row as columns. */
export function numberColumnsOf(row: MetricRow): NumberColumns {
  return {
    latest: numbersOf(row.metric_latest),
    min: numbersOf(row.metric_min),
    max: numbersOf(row.metric_max),
    mean: numbersOf(row.metric_mean),
    variance: numbersOf(row.metric_variance),
    count: numbersOf(row.metric_count),
    best: numbersOf(row.metric_best),
    bestStep: numbersOf(row.metric_best_step),
    latestStep: numbersOf(row.metric_latest_step),
    ...nonFiniteOf(row.metric_non_finite),
  };
}

function nonFiniteOf(bytes: Buffer | null): Pick<NumberColumns, "nonFinite" | "nonFiniteStep"> {
  const numbers = numbersOf(bytes);
  if (numbers.every((number) => number === 0)) return { nonFinite: [], nonFiniteStep: [] };
  const isEven = (_: number, i: number): boolean => i % 2 === 0;
  return { nonFinite: numbers.filter(isEven), nonFiniteStep: numbers.slice(1).filter(isEven) };
}

/** Returns the doubles of a column, as PostgreSQL's float8send writes them one after another. */
export function numbersOf(bytes: Buffer | null): number[] {
  if (bytes === null) return [];
  const numbers: number[] = [];
  for (let at = 0; at < bytes.length; at += 8) numbers.push(bytes.readDoubleBE(at));
  return numbers;
}

/** Metric keys from `from` (included) to `end` (excluded), after `after`; `end` undefined: no upper bound. */
export type KeyRange = { readonly from: string; readonly end: string | undefined; readonly after: string };

const LAST_CODE_POINT = 0x10_ff_ff;

/**
 * Returns the first text after all texts that start with `prefix`, in code point order; undefined when
 * no such text exists. An index answers a range, but not a prefix.
 */
export function endOfPrefix(prefix: string): string | undefined {
  const points = Array.from(prefix, (char) => char.codePointAt(0) ?? 0);
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    if (last === LAST_CODE_POINT) continue;
    // The surrogates in between are not characters.
    const next = last + 1 === 0xd800 ? 0xe000 : last + 1;
    return String.fromCodePoint(...points, next);
  }
  return undefined;
}

/** Returns the cursor that continues after `key`. */
export function keyCursor(key: string): string {
  return Buffer.from(key, "utf8").toString("base64url");
}

/** Returns the key that a cursor continues after; the empty text is the beginning. @throws bad_request */
export function readKeyCursor(cursor: string): string {
  const bytes = Buffer.from(cursor, "base64url");
  const key = bytes.toString("utf8");
  if (keyCursor(key) !== cursor || key.includes("\0")) {
    throw badRequest("metric_cursor is not a cursor of this list", "metric_cursor");
  }
  return key;
}

/** The keys of a run with their numbers of points. */
export type KeyCountsRow = Pick<MetricRow, "metric_keys" | "metric_count">;

/** The prefix of keys that measure machines and not the training. */
const SYSTEM_PREFIX = "system/instantml/";

/** Returns the keys that have the most points in these runs, the first in code point order among equals (contract of embed sessions, generated view). */
export function rankMetricKeys(runs: readonly KeyCountsRow[], keysMax: number): string[] {
  const totals = new Map<string, number>();
  for (const run of runs) {
    const counts = numbersOf(run.metric_count);
    metricKeysOf(run).forEach((key, i) => totals.set(key, (totals.get(key) ?? 0) + counts[i]!));
  }
  return [...totals]
    .filter(([key]) => !key.startsWith(SYSTEM_PREFIX))
    .toSorted(([a, points], [b, others]) => others - points || compareKeyBytes(a, b))
    .slice(0, keysMax)
    .map(([key]) => key);
}
