import { binarySql, type Tx } from "@tidemark/pg";

/** The figures of a metric key, in the order in which they are read. */
export const FIGURES = [
  "count",
  "min",
  "max",
  "mean",
  "variance",
  "latest",
  "latest_step",
  "best",
  "best_step",
] as const;

/** The aggregates of a key; a variance that a double cannot hold is null. */
export type AggregateRow = { readonly key: string } & { readonly [figure in (typeof FIGURES)[number]]: number | null };

const pageSql = binarySql(
  "ingest_page_metric_aggregates",
  `SELECT h.key, h.count::double precision AS count, ${FIGURES.slice(1)
    .map((figure) => `h.${figure}`)
    .join(", ")}
   FROM ingest.metric_aggregates_v1 h
   WHERE h.org_id = $1 AND h.run_id = $2 AND h.key COLLATE "C" > $3 ORDER BY h.key COLLATE "C" LIMIT $4`,
);

/** Returns the aggregates of a run's next keys after `after`, in the order of their bytes. */
export function pageMetricAggregates(
  tx: Tx,
  orgId: string,
  runId: string,
  after: string,
  limit: number,
): Promise<AggregateRow[]> {
  return tx.rows(pageSql, [orgId, runId, after, limit]);
}
