import { sql, type Db } from "@tidemark/pg";
import type { MetricBlockChange } from "../domain/metric-block-change.ts";
import { byteaArray, float8Array } from "../writes/binary-array.sql.ts";
import type { RunOfOrg } from "./list-waiting-metric-rows.ts";

const replaceBlocks = sql(
  "ingest_replace_metric_blocks",
  `SELECT ingest.replace_metric_blocks($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
                                       $18, $19) AS held`,
);

const NO_HEADS = new Uint8Array(0);

/**
 * Puts blocks in the place of the landing rows and blocks whose points they hold: one transaction, all or nothing. False when the fence does not
 * hold any more; the claim is prolonged when it does. `db` runs as the worker.
 */
export async function replaceMetricBlocks(
  db: Db,
  { orgId, runId }: RunOfOrg,
  claim: { readonly fence: string; readonly leaseSeconds: number },
  { segmentIds, replaced, added }: MetricBlockChange,
): Promise<boolean> {
  const blocks = added.map(({ block }) => block);
  const row = await db.one<{ held: boolean }>(replaceBlocks, [
    orgId,
    runId,
    claim.fence,
    claim.leaseSeconds,
    float8Array(segmentIds),
    replaced.map(({ firstKey }) => firstKey),
    float8Array(replaced.map(({ firstSeq }) => firstSeq)),
    added.map(({ firstKey }) => firstKey),
    added.map(({ width }) => width),
    float8Array(added.map(({ firstSeq }) => firstSeq)),
    float8Array(added.map(({ lastSeq }) => lastSeq)),
    float8Array(blocks.map(({ firstStep }) => firstStep)),
    float8Array(blocks.map(({ lastStep }) => lastStep)),
    blocks.map(({ points }) => points),
    blocks.map(({ valueCount }) => valueCount),
    blocks.map(({ stepsEnd }) => stepsEnd),
    blocks.map(({ axisEnd }) => axisEnd),
    byteaArray(blocks.map(({ heads }) => heads ?? NO_HEADS)),
    byteaArray(blocks.map(({ data }) => data)),
  ]);
  return row!.held;
}
