import { sql, type Db } from "@tidemark/pg";
import type { MetricBlockFacts } from "../domain/metric-stripes.ts";
import type { RunOfOrg } from "./list-waiting-metric-rows.ts";

const listTails = sql(
  "ingest_metric_block_tails",
  `SELECT first_key AS "firstKey", width, first_seq AS "firstSeq", last_seq AS "lastSeq", points, value_count AS "values"
   FROM ingest.metric_block_tails($1, $2, $3, $4)`,
);

/**
 * The blocks that begin at these keys, of all widths, each key's from its oldest one on that is newer than its last block of a
 * narrow stripe with at least `sealedPoints` points. `db` runs as the
 * worker.
 */
export async function listMetricBlockTails(
  db: Db,
  { orgId, runId }: RunOfOrg,
  firstKeys: readonly number[],
  sealedPoints: number,
): Promise<MetricBlockFacts[]> {
  return (await db.rows<MetricBlockFacts>(listTails, [orgId, runId, firstKeys, sealedPoints])).reverse();
}
