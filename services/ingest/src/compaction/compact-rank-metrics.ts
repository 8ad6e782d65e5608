import type { Db } from "@tidemark/pg";
import { countRankRows } from "../store/count-rank-rows.ts";
import { foldRankRows, type FoldBounds } from "../store/fold-rank-rows.ts";
import type { CompactionKind, VisitResult } from "./compaction-kind.ts";
import { LEASE_SECONDS } from "./work-loop.ts";

/** Ranks are seldom further apart than the rest, so that blocks seldom overlap. */
export const FOLD_BOUNDS: FoldBounds = { restSeconds: 10, entriesMin: 1024, entriesMax: 4096, overlapsMax: 4 };
/** Blocks of one visit, so that one busy set does not keep the others waiting. */
const BLOCKS_MAX = 16;

/**
 * Rank metrics: rows of a set of keys that have come to rest become blocks, which are quicker to read and half as large. A row that nobody folds is
 * read as it is. Without anything to fold, a set is looked at again after `patienceSeconds`.
 */
export function rankCompaction(
  db: Db,
  { patienceSeconds }: { readonly patienceSeconds: number },
  bounds = FOLD_BOUNDS,
): CompactionKind {
  return {
    name: "ranks",
    countWaiting: () => countRankRows(db),
    async visit({ orgId, runId, part, fence }, isStopping): Promise<VisitResult> {
      const set = { orgId, runId, setId: Number(part) };
      const done = { rows: 0, blocks: 0 };
      while (done.blocks < BLOCKS_MAX && !isStopping()) {
        const folded = await foldRankRows(db, set, { fence, leaseSeconds: LEASE_SECONDS }, bounds);
        if (folded === "lost") return { ...done, nextSeconds: patienceSeconds, isQuiet: false };
        if (folded === 0) return { ...done, nextSeconds: Math.max(1, patienceSeconds), isQuiet: true };
        done.rows += folded;
        done.blocks += 1;
      }
      return { ...done, nextSeconds: 0, isQuiet: false };
    },
  };
}
