/** Select list of a `MetricRow`, over the join of `metricsOf`. */
export const metricColumns = `
  m.keys AS metric_keys, m.total AS metric_total, m.latest AS metric_latest, m.min AS metric_min, m.max AS metric_max,
  m.mean AS metric_mean, m.variance AS metric_variance, m.count AS metric_count, m.best AS metric_best,
  m.best_step AS metric_best_step`;

/** Which keys of a run `metricsOf` joins; every member is SQL. */
type MetricSelection = {
  /** Maximum number of keys of a run. */
  readonly limit: string;
  /** The first key that may be in the page; absent: any. */
  readonly from?: string;
  /** The key before which the page ends, or NULL; absent: no end. */
  readonly end?: string;
  /** The key after which the page begins; absent or empty: the first one. */
  readonly after?: string;
};

/** Returns a join of a page of the metric keys of each run `r`, in code point order, with their aggregates as columns. */
export function metricsOf({ limit, from = "''", end = "NULL::text", after = "''" }: MetricSelection): string {
  return `CROSS JOIN LATERAL ingest.metric_columns_v1(r.org_id, r.id, ${from}, ${end}, ${after}, ${limit}) m`;
}
