import { sql, type Db } from "@tidemark/pg";
import { rowCounterOf, type Claim } from "../compaction/compaction-work.sql.ts";

/** A set of keys of a run that are reported together, in a world of one size. */
export type RankSetRef = { readonly orgId: string; readonly runId: string; readonly setId: number };

/** Which rows become one block. */
export type RankCompactionBounds = {
  /** Rows count once they have not been written for this long. */
  readonly restSeconds: number;
  /** Fewer rows than this are not compacted. */
  readonly entriesMin: number;
  /** The most rows of one block, not counting the other rows of its last step. */
  readonly entriesMax: number;
  /** Late rows are not compacted where this many blocks already cover their steps. */
  readonly overlapsMax: number;
};

const compactRows = sql(
  "ingest_compact_rank_rows",
  "SELECT ingest.compact_rank_rows($1, $2, $3, $4, $5, $6, $7, $8, $9) AS compacted",
);

const LOST = -1;

/**
 * Compacts rows of a set into one block, first the rows after all blocks, then late rows, and returns how many there were. One
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

/** Returns about how many rows of rank metrics are not in blocks, across all organizations. Many of them stay rows, because their set has too few. */
export const countRankRows = rowCounterOf("rank_metric_rows");
