import { sql, type Db } from "@tidemark/pg";

// What the server has counted, a second late; as for console lines.
const countRows = sql(
  "ingest_count_rank_rows",
  "SELECT pg_stat_get_live_tuples('ingest.rank_metric_rows'::regclass)::float8 AS rows",
);

/** About how many rows of rank metrics are not folded, of all organizations together; many of them are too few of their set ever to be. */
export async function countRankRows(db: Db): Promise<number> {
  return (await db.one<{ rows: number }>(countRows, []))!.rows;
}
