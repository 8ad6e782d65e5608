import type { Db } from "@tidemark/pg";
import { claimOf, type CompactionKind, type VisitResult } from "../compaction/work-loop.ts";
import { countRankRows, compactRankRows, type RankCompactionBounds } from "./rank-writes.sql.ts";

/** Ranks are seldom further apart than `restSeconds`, so blocks seldom overlap. */
export const RANK_COMPACTION_BOUNDS: RankCompactionBounds = {
  restSeconds: 10,
  entriesMin: 1024,
  entriesMax: 4096,
  overlapsMax: 4,
};
/** Blocks of one visit, so that one busy set does not keep the others waiting. */
const BLOCKS_MAX = 16;

/**
 * Compacts rank metrics: rows of a set of keys that are no longer written become blocks, which are faster to read and half as large. Rows
 * that are not compacted are read directly. A set with nothing to compact is visited again after `patienceSeconds`.
 */
export function rankCompaction(
  db: Db,
  { patienceSeconds }: { readonly patienceSeconds: number },
  bounds = RANK_COMPACTION_BOUNDS,
): CompactionKind {
  return {
    name: "ranks",
    countWaiting: () => countRankRows(db),
    async visit(item, isStopping): Promise<VisitResult> {
      const set = { orgId: item.orgId, runId: item.runId, setId: Number(item.part) };
      const done = { rows: 0, blocks: 0 };
      while (done.blocks < BLOCKS_MAX && !isStopping()) {
        const compacted = await compactRankRows(db, set, claimOf(item), bounds);
        if (compacted === "lost") return { ...done, nextSeconds: patienceSeconds, isQuiet: false };
        if (compacted === 0) return { ...done, nextSeconds: Math.max(1, patienceSeconds), isQuiet: true };
        done.rows += compacted;
        done.blocks += 1;
      }
      return { ...done, nextSeconds: 0, isQuiet: false };
    },
  };
}
