import { binarySql, type Db } from "@tidemark/pg";
import type { MetricBlockFacts } from "../domain/metric-stripes.ts";
import { float8Array } from "../writes/binary-array.sql.ts";
import type { RunOfOrg } from "./list-waiting-metric-rows.ts";

const readBlocks = binarySql("ingest_read_metric_blocks", "SELECT data FROM ingest.read_metric_blocks($1, $2, $3, $4)");

/** The contents of some blocks, in the order asked for. `db` runs as the worker. @throws Error when one is not there */
export async function readMetricBlocks(
  db: Db,
  { orgId, runId }: RunOfOrg,
  blocks: readonly Pick<MetricBlockFacts, "firstKey" | "firstSeq">[],
): Promise<Uint8Array[]> {
  const rows = await db.rows<{ data: Uint8Array }>(readBlocks, [
    orgId,
    runId,
    blocks.map(({ firstKey }) => firstKey),
    float8Array(blocks.map(({ firstSeq }) => firstSeq)),
  ]);
  // Somebody else has the work by now, or a block was taken away by hand.
  if (rows.length < blocks.length) throw new Error("a metric block is not there any more");
  return rows.map(({ data }) => data);
}
