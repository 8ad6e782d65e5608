/** Aggregates of one run's metrics, one array per figure, in the order of the keys; null when there are none. */
export type MetricRow = {
  readonly metric_keys: string[] | null;
  readonly metric_latest: number[] | null;
  readonly metric_min: number[] | null;
  readonly metric_max: number[] | null;
  readonly metric_mean: number[] | null;
  /** Null where a double cannot hold it. */
  readonly metric_variance: (number | null)[] | null;
  readonly metric_count: number[] | null;
  readonly metric_best: number[] | null;
  readonly metric_best_step: number[] | null;
  /** How many keys match, those beyond the limit included. */
  readonly metric_total: number;
};

/** Select list of a `MetricRow`, over the `m` that `metricsOf` joins. */
export const metricColumns = `
  m.keys AS metric_keys, m.latest AS metric_latest, m.min AS metric_min, m.max AS metric_max, m.mean AS metric_mean,
  m.variance AS metric_variance, m.counts AS metric_count, m.best AS metric_best, m.best_step AS metric_best_step, m.total AS metric_total`;

/** Which keys of a run `metricsOf` joins; every part is SQL. */
export type MetricSelection = {
  /** Most keys of a run. */
  readonly limit: string;
  /** Conditions on `h.key` that choose the keys; each begins with AND. */
  readonly matching?: string;
  /** Further conditions that choose the page of them; each begins with AND. */
  readonly page?: string;
  /** Whether the page begins with the first matching key. */
  readonly fromStart: string;
};

/**
 * Joins a page of the metric keys of each run `r`, in code point order. Keys are counted only where
 * the page does not show them all: a run may have a hundred thousand.
 */
export function metricsOf({ limit, matching = "", page = "", fromStart }: MetricSelection): string {
  const heads = `ingest.metric_heads_v1 h WHERE h.org_id = r.org_id AND h.run_id = r.id ${matching}`;
  const column = (value: string) => `array_agg(${value} ORDER BY h.key COLLATE "C")`;
  return `
    CROSS JOIN LATERAL (
      SELECT ${column("h.key")} AS keys, ${column("h.latest")} AS latest, ${column("h.min")} AS min,
             ${column("h.max")} AS max, ${column("h.mean")} AS mean, ${column("h.variance")} AS variance,
             ${column("h.count::float8")} AS counts, ${column("h.best")} AS best,
             ${column("h.best_step")} AS best_step,
             CASE WHEN ${fromStart} AND count(*) < ${limit} THEN count(*) ELSE (SELECT count(*) FROM ${heads}) END AS total
      FROM (SELECT h.* FROM ${heads} ${page} ORDER BY h.key COLLATE "C" LIMIT ${limit}) h
    ) m`;
}
