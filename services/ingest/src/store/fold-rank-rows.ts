import { sql, type Db } from "@tidemark/pg";

/** Keys of a run that are reported together, in a world of one size. */
export type RankSetRef = { readonly orgId: string; readonly runId: string; readonly setId: number };

/** Which rows to fold into one block. */
export type FoldBounds = {
  /** Only rows that nobody has written for so long. */
  readonly restSeconds: number;
  /** Fewer rows than this are left as they are. */
  readonly entriesMin: number;
  /** About the most rows of one block: those of its last step come with it. */
  readonly entriesMax: number;
  /** Rows that came late stay as they are where so many blocks are at their steps already. */
  readonly overlapsMax: number;
};

const foldRows = sql(
  "ingest_compact_rank_rows",
  "SELECT ingest.compact_rank_rows($1, $2, $3, $4, $5, $6, $7, $8, $9) AS folded",
);

const LOST = -1;

/**
 * Folds rows of a set into one block, those behind all blocks first, then those that came late; returns how many there were. One transaction,
 * which also makes the claim hold for `leaseSeconds` more; `lost`, and nothing done, when somebody else has the work. `db` runs as the worker.
 */
export async function foldRankRows(
  db: Db,
  set: RankSetRef,
  claim: { readonly fence: string; readonly leaseSeconds: number },
  bounds: FoldBounds,
): Promise<number | "lost"> {
  const row = await db.one<{ folded: number }>(foldRows, [
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
  return row!.folded === LOST ? "lost" : row!.folded;
}
