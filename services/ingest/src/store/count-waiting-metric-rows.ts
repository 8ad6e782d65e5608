import { sql, type Db } from "@tidemark/pg";

// What the server has counted, a second late; as for console lines.
const countWaiting = sql(
  "ingest_count_waiting_metric_rows",
  "SELECT pg_stat_get_live_tuples('ingest.metric_landing'::regclass)::float8 AS rows",
);

/** About how many landing rows of metrics wait, of all organizations together. */
export async function countWaitingMetricRows(db: Db): Promise<number> {
  return (await db.one<{ rows: number }>(countWaiting, []))!.rows;
}
