import { sql, type Db } from "@tidemark/pg";

const measureLag = sql(
  "ingest_measure_compaction_lag",
  `SELECT coalesce(extract(epoch FROM now() - min(due_at)), 0)::float8 AS seconds
   FROM ingest.compaction_work WHERE kind = $1 AND due_at <= now()`,
);

/** For how many seconds the longest waiting work has been due; 0 when none is. `db` runs as the worker. */
export async function measureCompactionLag(db: Db, kind: string): Promise<number> {
  return (await db.one<{ seconds: number }>(measureLag, [kind]))!.seconds;
}
