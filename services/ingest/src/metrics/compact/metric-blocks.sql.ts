import { binarySql, byteaArray, type Db, float8Array, sql } from "@tidemark/pg";
import { rowCounterOf, type Claim } from "../../compaction/compaction-work.sql.ts";
import type { MetricBlockChange, MetricBlockFacts, KeyRange } from "./key-ranges.rules.ts";

/** A run of an organization. */
export type RunOfOrg = { readonly orgId: string; readonly runId: string };

/** A landing segment of metrics: one accepted request. */
export type MetricSegment = {
  /** Its number in the order of arrival. */
  readonly id: number;
  /** Microseconds since the Unix epoch. */
  readonly receivedUs: number;
  readonly ageSeconds: number;
  /** Its points, encoded. */
  readonly points: Uint8Array;
};

const listWaiting = binarySql(
  "ingest_waiting_metric_rows",
  `SELECT id, received_us AS "receivedUs", age_seconds AS "ageSeconds", points
   FROM ingest.waiting_metric_rows($1, $2, $3, $4)`,
);

/**
 * Returns the landing segments of a run by arrival: up to `rowsMax`, or up to the one with which they reach `bytesMax` bytes. No segment will arrive
 * before one that is listed. `db` runs as the worker.
 */
export function listMetricSegments(
  db: Db,
  { orgId, runId }: RunOfOrg,
  bounds: { readonly rowsMax: number; readonly bytesMax: number },
): Promise<MetricSegment[]> {
  return db.rows(listWaiting, [orgId, runId, bounds.rowsMax, bounds.bytesMax]);
}

/** Returns about how many landing segments of metrics wait, across all organizations. */
export const countMetricSegments = rowCounterOf("metric_segments");

const listTails = sql(
  "ingest_metric_block_tails",
  `SELECT first_key AS "firstKey", width, first_seq AS "firstSeq", last_seq AS "lastSeq", points, value_count AS "values"
   FROM ingest.metric_block_tails($1, $2, $3, $4)`,
);

/**
 * Returns the blocks that begin at these keys, of all widths: for each key, the blocks newer than its last block of a narrow key range with at
 * least `sealedPoints` points, oldest first. `db` runs as the worker.
 */
export async function listMetricBlockTails(
  db: Db,
  { orgId, runId }: RunOfOrg,
  firstKeys: readonly number[],
  sealedPoints: number,
): Promise<MetricBlockFacts[]> {
  return (await db.rows<MetricBlockFacts>(listTails, [orgId, runId, firstKeys, sealedPoints])).reverse();
}

const listCrowded = sql(
  "ingest_crowded_metric_stripes",
  `SELECT first_key AS "firstKey", width FROM ingest.crowded_key_ranges($1, $2, $3, $4, $5, $6)`,
);

/**
 * Returns the next key ranges of a run, after one or from the first, that have several blocks of less than `sealedPoints` points. Looks at all
 * blocks of the run. `db` runs as the worker.
 */
export function listCrowdedKeyRanges(
  db: Db,
  { orgId, runId }: RunOfOrg,
  after: KeyRange | undefined,
  bounds: { readonly sealedPoints: number; readonly keyRangesMax: number },
): Promise<KeyRange[]> {
  const from = [after?.firstKey ?? 0, after?.width ?? 0];
  return db.rows(listCrowded, [orgId, runId, bounds.sealedPoints, ...from, bounds.keyRangesMax]);
}

const readBlocks = binarySql("ingest_read_metric_blocks", "SELECT data FROM ingest.read_metric_blocks($1, $2, $3, $4)");

/** Returns the contents of the given blocks, in their order. `db` runs as the worker. @throws Error when one of them does not exist */
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
  // Another process now has the work, or a person deleted a block.
  if (rows.length < blocks.length) throw new Error("a metric block is not there any more");
  return rows.map(({ data }) => data);
}

const replaceBlocks = sql(
  "ingest_replace_metric_blocks",
  `SELECT ingest.replace_metric_blocks($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
                                       $18, $19, $20) AS held`,
);

const NO_STATISTICS = new Uint8Array(0);

/**
 * Replaces landing segments and blocks with blocks that hold the same points: one transaction, all or nothing. Prolongs the claim; returns false,
 * and does nothing, when the claim no longer holds. `db` runs as the worker.
 */
export async function replaceMetricBlocks(
  db: Db,
  { orgId, runId }: RunOfOrg,
  claim: Claim,
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
    byteaArray(blocks.map(({ statistics }) => statistics ?? NO_STATISTICS)),
    byteaArray(blocks.map(({ sums }) => sums ?? NO_STATISTICS)),
    byteaArray(blocks.map(({ data }) => data)),
  ]);
  return row!.held;
}
