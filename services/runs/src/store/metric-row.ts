import { AGGREGATES_PER_PAGE, NUMBERS_PER_AGGREGATE, populationVariance, readAggregate } from "@tidemark/metric-codec";

/** A page of one run's metric aggregates, as the statements return it; null when there are none. */
export type MetricRow = {
  /** The keys in code point order, with a NUL between them. */
  readonly metric_keys: Buffer | null;
  /** For each key twice its id, and one more where less is better: big-endian 32-bit integers. */
  readonly metric_ids: Buffer | null;
  /** The head pages that the keys are in: for each its number, then its heads as an array. */
  readonly metric_pages: Buffer | null;
  /** Where the keys are in too many pages, the head of each key as an array instead. */
  readonly metric_heads: Buffer | null;
  /** How many keys match, those beyond the limit included. */
  readonly metric_total: number;
};

/** Select list of a `MetricRow`, over what `metricsOf` joins. */
export const metricColumns =
  "m.keys AS metric_keys, m.ids AS metric_ids, h.pages AS metric_pages, h.heads AS metric_heads, m.total AS metric_total";

/** Of a run that has no metrics, or whose metrics are not asked for. */
export const NO_METRICS: MetricRow = {
  metric_keys: null,
  metric_ids: null,
  metric_pages: null,
  metric_heads: null,
  metric_total: 0,
};

/** Which keys of a run `metricsOf` joins; every part is SQL. */
export type MetricSelection = {
  /** Most keys of a run. */
  readonly limit: string;
  /** Conditions on `k.key` that choose the keys; each begins with AND. */
  readonly matching?: string;
  /** Further conditions that choose the page of them; each begins with AND. */
  readonly page?: string;
  /** Whether the page begins with the first matching key. */
  readonly fromStart: string;
  /** Whether every key matches; left out where there is nothing to match. */
  readonly isEvery?: string;
};

/** Of a run with at most so many keys all pages are read, which is quicker than a look-up for each key. */
const PAGED_KEYS_MAX = 8 * AGGREGATES_PER_PAGE;
/** Of one with more, pages that have so many of the keys each are read whole: keys that are next to each other mostly were logged together. */
const DENSE_KEYS_MIN = 4;

/**
 * Joins a page of the metric keys of each run `r`, in code point order, which an aggregate keeps of
 * a sorted subquery. Keys are counted only where neither the page nor the run says how many they are: a
 * run may have a hundred thousand. Numbers are sent as bytes, because the texts of thousands of numbers
 * cost more to write and to read than all else.
 */
export function metricsOf(selection: MetricSelection): string {
  const { limit, matching = "", page = "", fromStart, isEvery = "true" } = selection;
  const keys = `ingest.metric_keys_v1 k WHERE k.org_id = r.org_id AND k.run_id = r.id ${matching}`;
  const pages = "ingest.metric_head_pages_v1 p WHERE p.org_id = r.org_id AND p.run_id = r.id";
  const at = `(k.id & ${AGGREGATES_PER_PAGE - 1}) * ${NUMBERS_PER_AGGREGATE}`;
  const isDense = `(cardinality(w.pages) * ${DENSE_KEYS_MIN} <= cardinality(m.looked_up))`;
  return `
    LEFT JOIN ingest.metric_runs_v1 n ON n.org_id = r.org_id AND n.run_id = r.id
    CROSS JOIN LATERAL (
      SELECT string_agg(textsend(k.key), '\\x00'::bytea) AS keys,
             string_agg(int4send(k.key_id << 1 | k.minimise::integer), '') AS ids,
             CASE WHEN n.key_count > ${PAGED_KEYS_MAX} THEN array_agg(k.key_id) END AS looked_up,
             CASE WHEN ${fromStart} AND count(*) < ${limit} THEN count(*)
                  WHEN ${isEvery} THEN coalesce(n.key_count, 0)
                  ELSE (SELECT count(*) FROM ${keys}) END AS total
      FROM (SELECT k.key, k.key_id, k.minimise FROM ${keys} ${page} ORDER BY k.key COLLATE "C" LIMIT ${limit}) k
    ) m
    CROSS JOIN LATERAL (
      SELECT array_agg(d.page) AS pages FROM (SELECT DISTINCT k.id / ${AGGREGATES_PER_PAGE} AS page FROM unnest(m.looked_up) AS k (id)) d
    ) w
    CROSS JOIN LATERAL (
      SELECT CASE WHEN n.key_count <= ${PAGED_KEYS_MAX} THEN (
               SELECT string_agg(int4send(p.page) || array_send(p.stats), '') FROM ${pages}
             ) WHEN ${isDense} THEN (
               SELECT string_agg(int4send(k.page) || array_send(p.stats), '')
               FROM unnest(w.pages) AS k (page) CROSS JOIN LATERAL (SELECT p.stats FROM ${pages} AND p.page = k.page OFFSET 0) p
             ) END AS pages,
             CASE WHEN NOT ${isDense} THEN (
               SELECT string_agg(array_send(p.stats[${at} + 1:${at} + ${NUMBERS_PER_AGGREGATE}]), '' ORDER BY k.place)
               FROM unnest(m.looked_up) WITH ORDINALITY AS k (id, place)
               CROSS JOIN LATERAL (SELECT p.stats FROM ${pages} AND p.page = k.id / ${AGGREGATES_PER_PAGE} OFFSET 0) p
             ) END AS heads
    ) h`;
}

/** The keys of a row. */
export function keysOf({ metric_keys: packed }: MetricRow): string[] {
  return packed === null ? [] : packed.toString("utf8").split("\0");
}

/** What is shown of each key, a column per figure in the order of the keys; NaN for a variance that a double cannot hold. */
export type FigureColumns = {
  readonly latest: number[];
  readonly min: number[];
  readonly max: number[];
  readonly mean: number[];
  readonly variance: number[];
  readonly count: number[];
  readonly best: number[];
  readonly bestStep: number[];
};

/** The numbers of a row as columns. */
export function figuresOf(row: MetricRow): FigureColumns {
  const columns: FigureColumns = {
    latest: [],
    min: [],
    max: [],
    mean: [],
    variance: [],
    count: [],
    best: [],
    bestStep: [],
  };
  const { metric_ids: ids } = row;
  if (ids === null) return columns;
  const headAt = headReader(row);
  for (let i = 0; 4 * i < ids.length; i += 1) {
    const id = ids.readInt32BE(4 * i);
    const head = headAt(i, id >> 1);
    const minimise = (id & 1) === 1;
    columns.latest.push(head.latest);
    columns.min.push(head.min);
    columns.max.push(head.max);
    columns.mean.push(head.mean);
    columns.variance.push(varianceOf(head));
    columns.count.push(head.count);
    columns.best.push(minimise ? head.min : head.max);
    columns.bestStep.push(minimise ? head.minStep : head.maxStep);
  }
  return columns;
}

/** As ingest.metric_heads_v1 says it, where PostgreSQL must not divide the smallest numbers. */
function varianceOf(head: Parameters<typeof populationVariance>[0]): number {
  if (head.m2 < 1e-290) return 0;
  const variance = populationVariance(head);
  return variance < Infinity ? variance : Number.NaN;
}

// PostgreSQL's binary form of a float8[] (array_send): a header, then each number behind its length.
const ARRAY_HEADER_BYTES = 20;
const ARRAY_LENGTH_AT = 12;
const NUMBER_BYTES = 12;
const NUMBER_AT = 4;
const HEAD_BYTES = ARRAY_HEADER_BYTES + NUMBERS_PER_AGGREGATE * NUMBER_BYTES;

/** Reads the head of the key at a place of the row. */
function headReader({ metric_pages: pages, metric_heads: heads }: MetricRow) {
  const bytes = pages ?? heads ?? Buffer.alloc(0);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const read = (start: number) =>
    readAggregate((i) => view.getFloat64(start + ARRAY_HEADER_BYTES + i * NUMBER_BYTES + NUMBER_AT));
  if (pages === null) return (place: number) => read(place * HEAD_BYTES);
  const startOf = new Map<number, number>();
  for (let at = 0; at < pages.length;) {
    startOf.set(pages.readInt32BE(at), at + 4);
    at += 4 + ARRAY_HEADER_BYTES + pages.readInt32BE(at + 4 + ARRAY_LENGTH_AT) * NUMBER_BYTES;
  }
  return (_place: number, keyId: number) => {
    const slot = keyId % AGGREGATES_PER_PAGE;
    const start = startOf.get((keyId - slot) / AGGREGATES_PER_PAGE);
    if (start === undefined) throw new Error("a metric key has no head");
    return read(start + slot * NUMBERS_PER_AGGREGATE * NUMBER_BYTES);
  };
}
