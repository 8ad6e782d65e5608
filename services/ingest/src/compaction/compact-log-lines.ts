import { decodeLogBlock, messageBytesOf, type LogColumns } from "@tidemark/log-codec";
import type { Db } from "@tidemark/pg";
import { LEVEL_RULES, type LevelRules } from "../domain/log-levels.ts";
import { logStreamOf } from "../domain/log-stream.ts";
import { countWaitingLogRows } from "../store/count-waiting-log-rows.ts";
import { listWaitingLogRows } from "../store/list-waiting-log-rows.ts";
import { absorbLines } from "./absorb-log-lines.ts";
import type { CompactionKind, VisitResult } from "./compaction-kind.ts";
import { foldLevels } from "./fold-log-levels.ts";
import { openLogBlocks } from "./open-log-blocks.ts";
import { LEASE_SECONDS } from "./work-loop.ts";

/** What one step reads at most, rows and bytes of messages: a few milliseconds of work, which requests to the process wait for. */
const STEP_ROWS_MAX = 256;
const STEP_BYTES_MAX = 512 * 1024;
/** Steps of one visit, so that one busy stream does not keep the others waiting. */
const STEPS_MAX = 64;
/** As many rows are compacted however young they are. */
const ROWS_MIN = 64;
/** A stream without rows is looked at so much less often. */
const QUIET_PATIENCE = 4;

/** When rows are compacted. */
export type LogCompactionTimes = {
  /**
   * No row younger than this is touched: longer than a write can wait for its connection and its key. So two writes that took one id meet in
   * the landing tier, where the second is refused, and rows of one moment are merged at once.
   */
  readonly settleSeconds: number;
  /** A row that is this old is compacted even if few wait with it. */
  readonly patienceSeconds: number;
};

/** Console lines: landing rows of a (run, stream) become blocks, and crowded blocks are folded. */
export function logCompaction(db: Db, times: LogCompactionTimes, rules: LevelRules = LEVEL_RULES): CompactionKind {
  const { settleSeconds, patienceSeconds } = times;
  return {
    name: "logs",
    countWaiting: () => countWaitingLogRows(db),
    async visit({ orgId, runId, part, fence }, isStopping): Promise<VisitResult> {
      const source = { orgId, runId, stream: logStreamOf(part) };
      const store = openLogBlocks(db, source, { fence, leaseSeconds: LEASE_SECONDS });
      const done = { rows: 0, blocks: 0 };
      const lost = () => ({ ...done, nextSeconds: patienceSeconds, isQuiet: false });
      // Also when there is nothing to absorb: the visit before may have ended in between.
      let mayFold = true;
      for (let step = 0; step < STEPS_MAX && !isStopping(); step++) {
        if (mayFold) {
          const folded = await foldLevels(store, rules);
          if (folded === "lost") return lost();
          done.blocks += folded?.blocks ?? 0;
          mayFold = folded !== undefined;
          continue;
        }
        const bounds = { settleSeconds, rowsMax: STEP_ROWS_MAX, bytesMax: STEP_BYTES_MAX };
        const rows = (await listWaitingLogRows(db, source, bounds)).map((row) => ({
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

async function isEmpty(db: Db, source: Parameters<typeof listWaitingLogRows>[1]): Promise<boolean> {
  const bounds = { settleSeconds: -1, rowsMax: 1, bytesMax: 1 };
  return (await listWaitingLogRows(db, source, bounds)).length === 0;
}
