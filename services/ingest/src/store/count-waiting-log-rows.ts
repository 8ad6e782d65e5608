import { sql, type Db } from "@tidemark/pg";

const countWaiting = sql("ingest_count_waiting_log_rows", "SELECT ingest.count_waiting_log_rows($1) AS rows");

/** Landing rows of console lines of all organizations, counted up to `most`. `db` runs as the worker. */
export async function countWaitingLogRows(db: Db, most: number): Promise<number> {
  return (await db.one<{ rows: number }>(countWaiting, [most]))!.rows;
}
