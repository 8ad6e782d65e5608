import { isMinimiseKey, type HeadDelta } from "@tidemark/metric-codec";
import { sql, type Db } from "@tidemark/pg";
import { float8Array, textArray } from "./binary-array.ts";
import { withFreshIds, type IdempotencyHashes, type WriteOutcome } from "./write-outcome.ts";

/** One accepted request of metric points. */
export type MetricWrite = {
  readonly orgId: string;
  readonly runId: string;
  /** The run is known to exist in the organization, and the caller may see it. */
  readonly runKnown: boolean;
  /** The one project that the caller may see; null for all. */
  readonly onlyProject: string | null;
  readonly idempotency: IdempotencyHashes | null;
  /** Makes the landing id: the place in the order of arrival, unique in the run. */
  readonly takeId: () => number;
  /** The landing block. */
  readonly block: Uint8Array;
  readonly lowestStep: number;
  readonly highestStep: number;
  readonly valueCount: number;
  /** What the block says about each key, sorted by key. */
  readonly heads: readonly HeadDelta[];
};

const insertMetrics = sql(
  "ingest_append_metrics",
  `SELECT outcome, inserted, run_project AS "projectId"
   FROM ingest.append_metrics($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
);

/**
 * Stores a request with its idempotency record and its heads in one round trip and one transaction.
 * @throws idempotency_in_progress
 */
export async function appendMetrics(db: Db, write: MetricWrite): Promise<WriteOutcome> {
  const keys = textArray(write.heads.map((head) => head.key));
  const stats = float8Array(statsOf(write.heads));
  return withFreshIds(async () => {
    const row = await db.one<WriteOutcome>(insertMetrics, [
      write.orgId,
      write.runId,
      write.runKnown,
      write.onlyProject,
      write.idempotency?.key ?? null,
      write.idempotency?.body ?? null,
      write.takeId(),
      write.block,
      write.lowestStep,
      write.highestStep,
      write.valueCount,
      keys,
      stats,
    ]);
    return row!;
  });
}

const STATS_PER_KEY = 11;

/** The heads' numbers as ingest.append_metrics takes them. */
function statsOf(heads: readonly HeadDelta[]): Float64Array {
  const stats = new Float64Array(STATS_PER_KEY * heads.length);
  let at = 0;
  for (const head of heads) {
    stats[at] = head.count;
    stats[at + 1] = head.mean;
    stats[at + 2] = head.m2;
    stats[at + 3] = head.min;
    stats[at + 4] = head.minStep;
    stats[at + 5] = head.max;
    stats[at + 6] = head.maxStep;
    stats[at + 7] = head.latest;
    stats[at + 8] = head.latestStep;
    stats[at + 9] = head.firstStep;
    stats[at + 10] = isMinimiseKey(head.key) ? 1 : 0;
    at += STATS_PER_KEY;
  }
  return stats;
}
