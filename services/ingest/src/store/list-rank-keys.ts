import { sql, type Tx } from "@tidemark/pg";

// A key lies in as many sets as it came in, so this goes from key to key and not over all rows.
const listKeys = sql(
  "ingest_list_rank_keys",
  `WITH RECURSIVE listed (key, n) AS (
     (SELECT k.key, 1 FROM ingest.rank_metric_keys k
      WHERE k.org_id = $1 AND k.run_id = $2 ORDER BY k.key LIMIT 1)
     UNION ALL
     SELECT (SELECT k.key FROM ingest.rank_metric_keys k
             WHERE k.org_id = $1 AND k.run_id = $2 AND k.key > l.key ORDER BY k.key LIMIT 1), l.n + 1
     FROM listed l WHERE l.key IS NOT NULL AND l.n < $3
   )
   SELECT key FROM listed WHERE key IS NOT NULL`,
);

/** The first keys of a run for which ranks reported, by their UTF-8 bytes. */
export async function listRankKeys(tx: Tx, orgId: string, runId: string, keysMax: number): Promise<string[]> {
  const rows = await tx.rows<{ key: string }>(listKeys, [orgId, runId, keysMax]);
  return rows.map(({ key }) => key);
}
