import { AGGREGATES_PER_PAGE, NUMBERS_PER_AGGREGATE } from "@tidemark/metric-codec";

/** Select list of a `MetricRow`, over the joins of `metricsOf`. */
export const metricColumns =
  "m.keys AS metric_keys, m.ids AS metric_ids, a.pages AS metric_pages, a.aggregates AS metric_aggregates, m.total AS metric_total";

/** Which keys of a run `metricsOf` joins; every member is SQL. */
type MetricSelection = {
  /** Most keys of a run. */
  readonly limit: string;
  /** Conditions on `k.key` that choose the keys; each begins with AND. */
  readonly matching?: string;
  /** Further conditions that choose the page of these keys; each begins with AND. */
  readonly page?: string;
  /** Whether the page begins with the first matching key. */
  readonly fromStart: string;
  /** Whether every key matches; absent where `matching` is. */
  readonly isEvery?: string;
};

/** All pages of a run with at most this many keys are read, which is quicker than a look-up for each key. */
const PAGED_KEYS_MAX = 8 * AGGREGATES_PER_PAGE;
/** Of a run with more keys, pages that have at least this many of the keys each are read whole: neighboring keys were mostly logged together. */
const DENSE_KEYS_MIN = 4;

/**
 * Returns joins of a page of the metric keys of each run `r`, in code point order: string_agg keeps the
 * order of its sorted subquery. Keys are counted only where neither the page nor the run tells their
 * number, because a run may have a hundred thousand. Numbers are sent as bytes, because writing and
 * reading thousands of numbers as text costs more than everything else.
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
               SELECT string_agg(array_send(p.stats[${at} + 1:${at} + ${NUMBERS_PER_AGGREGATE}]), '' ORDER BY k.ordinal)
               FROM unnest(m.looked_up) WITH ORDINALITY AS k (id, ordinal)
               CROSS JOIN LATERAL (SELECT p.stats FROM ${pages} AND p.page = k.id / ${AGGREGATES_PER_PAGE} OFFSET 0) p
             ) END AS aggregates
    ) a`;
}
