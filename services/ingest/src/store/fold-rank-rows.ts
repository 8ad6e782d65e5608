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

const foldRows = sql("ingest_fold_rank_rows", "SELECT ingest.fold_rank_rows($1, $2, $3, $4, $5, $6, $7) AS folded");

/** Folds rows of a set into one block, those behind all blocks first, then those that came late; returns how many there were. One transaction. */
export async function foldRankRows(db: Db, set: RankSetRef, bounds: FoldBounds): Promise<number> {
  const row = await db.one<{ folded: number }>(foldRows, [
    set.orgId,
    set.runId,
    set.setId,
    bounds.restSeconds,
    bounds.entriesMin,
    bounds.entriesMax,
    bounds.overlapsMax,
  ]);
  return row!.folded;
}
