import { sql, type Db } from "@tidemark/pg";
import { rowCounterOf, type Claim } from "../compaction/compaction-work.sql.ts";

/** A set of keys of a run that are reported together, in a world of one size. */
export type RankSetRef = { readonly orgId: string; readonly runId: string; readonly setId: number };

/** Which rows become one block. */
export type RankCompactionBounds = {
  /** Rows count once they were not written for this long. */
  readonly restSeconds: number;
  /** Fewer rows than this stay as they are. */
  readonly entriesMin: number;
  /** The most rows of one block, besides the other rows of its last step. */
  readonly entriesMax: number;
  /** Rows that came late stay as they are where this many blocks are at their steps already. */
  readonly overlapsMax: number;
};

const compactRows = sql(
  "ingest_compact_rank_rows",
  "SELECT ingest.compact_rank_rows($1, $2, $3, $4, $5, $6, $7, $8, $9) AS compacted",
);

const LOST = -1;

/**
 * Compacts rows of a set into one block, first those behind all blocks, then those that came late, and returns how many there were. One
 * transaction, which also prolongs the claim. Does nothing and returns `lost` when another process has the work. `db` runs as the worker.
 */
export async function compactRankRows(
  db: Db,
  set: RankSetRef,
  claim: Claim,
  bounds: RankCompactionBounds,
): Promise<number | "lost"> {
  const row = await db.one<{ compacted: number }>(compactRows, [
    set.orgId,
    set.runId,
    set.setId,
    claim.fence,
    claim.leaseSeconds,
    bounds.restSeconds,
    bounds.entriesMin,
    bounds.entriesMax,
    bounds.overlapsMax,
  ]);
  return row!.compacted === LOST ? "lost" : row!.compacted;
}

/** Tells about how many rows of rank metrics are not in blocks, of all organizations. Many of them stay rows, because their set has too few. */
export const countRankRows = rowCounterOf("rank_metric_rows");
