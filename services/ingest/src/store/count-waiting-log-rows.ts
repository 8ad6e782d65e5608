import { sql, type Db } from "@tidemark/pg";

// What the server has counted, a second late. The rows themselves are fenced from the worker, and looking
// at each of them would cost the more, the more of them wait.
const countWaiting = sql(
  "ingest_count_waiting_log_rows",
  "SELECT pg_stat_get_live_tuples('ingest.log_landing'::regclass)::float8 AS rows",
);

/** About how many landing rows of console lines wait, of all organizations together. */
export async function countWaitingLogRows(db: Db): Promise<number> {
  return (await db.one<{ rows: number }>(countWaiting, []))!.rows;
}
