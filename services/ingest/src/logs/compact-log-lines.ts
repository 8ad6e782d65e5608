import { decodeLogBlock, messageBytesOf, type LogColumns } from "@tidemark/codecs/logs";
import type { Db } from "@tidemark/pg";
import { claimOf, type CompactionKind, type VisitResult } from "../compaction/work-loop.ts";
import { absorbLines, foldLevels, openLogBlocks } from "./arrange-log-lines.ts";
import { countLogSegments, listLogSegments } from "./log-blocks.sql.ts";
import { LEVEL_RULES, type LevelRules } from "./log-levels.rules.ts";
import { logStreamOf, type LogSource } from "./log-page.rules.ts";

/** The most that one step reads, in rows and in bytes of messages: a few milliseconds of work, which requests to the process wait for. */
const STEP_ROWS_MAX = 256;
const STEP_BYTES_MAX = 512 * 1024;
/** Steps of one visit, so that one busy stream does not keep the others waiting. */
const STEPS_MAX = 64;
/** This many landing segments are compacted regardless of their age. */
const ROWS_MIN = 64;
/** How many times less often a stream without landing segments is visited. */
const QUIET_PATIENCE = 4;

/** When landing segments are compacted. */
export type LogCompactionTimes = {
  /**
   * The compactor leaves younger segments alone: longer than a write can wait for its connection and its key. So two writes that took one id
   * conflict in the landing tier, where the second is refused, and segments of one moment are merged together.
   */
  readonly restSeconds: number;
  /** A segment that is this old is compacted even if few wait with it. */
  readonly patienceSeconds: number;
};

/** Compacts console lines: landing segments of a (run, stream) become blocks, and crowded blocks are folded. */
export function logCompaction(db: Db, times: LogCompactionTimes, rules: LevelRules = LEVEL_RULES): CompactionKind {
  const { restSeconds, patienceSeconds } = times;
  return {
    name: "logs",
    countWaiting: () => countLogSegments(db),
    async visit(item, isStopping): Promise<VisitResult> {
      const source = { orgId: item.orgId, runId: item.runId, stream: logStreamOf(item.part) };
      const store = openLogBlocks(db, source, claimOf(item));
      const done = { rows: 0, blocks: 0 };
      const lost = () => ({ ...done, nextSeconds: patienceSeconds, isQuiet: false });
      // Fold even when there is nothing to absorb: the previous visit may have ended between the two.
      let mayFold = true;
      for (let step = 0; step < STEPS_MAX && !isStopping(); step++) {
        if (mayFold) {
          const folded = await foldLevels(store, rules);
          if (folded === "lost") return lost();
          done.blocks += folded?.blocks ?? 0;
          mayFold = folded !== undefined;
          continue;
        }
        const bounds = { restSeconds, rowsMax: STEP_ROWS_MAX, bytesMax: STEP_BYTES_MAX };
        const rows = (await listLogSegments(db, source, bounds)).map((row) => ({
          id: row.id,
          ageSeconds: row.ageSeconds,
          columns: decodeLogBlock(row.block, { id: row.id, createdUs: row.receivedUs }),
        }));
        if (!isRipe(rows, patienceSeconds, rules)) {
          const oldest = Math.max(0, ...rows.map(({ ageSeconds }) => ageSeconds));
          const isQuiet = rows.length === 0 && (await isEmpty(db, source));
          const patience = isQuiet ? QUIET_PATIENCE * patienceSeconds : patienceSeconds - oldest;
          return { ...done, nextSeconds: Math.max(1, patience), isQuiet };
        }
        const absorbed = await absorbLines(store, rules, rows);
        if (absorbed === "lost") return lost();
        done.rows += rows.length;
        done.blocks += absorbed.blocks;
        mayFold = true;
      }
      return { ...done, nextSeconds: 0, isQuiet: false };
    },
  };
}

function isRipe(
  rows: readonly { readonly ageSeconds: number; readonly columns: LogColumns }[],
  patienceSeconds: number,
  { blockWeight }: LevelRules,
): boolean {
  if (rows.length >= ROWS_MIN) return true;
  const bytes = rows.reduce((sum, { columns }) => sum + messageBytesOf(columns), 0);
  return bytes >= blockWeight || rows.some(({ ageSeconds }) => ageSeconds >= patienceSeconds);
}

async function isEmpty(db: Db, source: LogSource): Promise<boolean> {
  const bounds = { restSeconds: -1, rowsMax: 1, bytesMax: 1 };
  return (await listLogSegments(db, source, bounds)).length === 0;
}
