import type { Db } from "@tidemark/pg";
import { mergeNewTexts } from "./new-runs.sql.ts";

/** Has the index of searched texts merged while runs are created. */
export type TextMerger = {
  /** Notes that runs were created. */
  created(runs: number): void;
};

/**
 * A search reads unmerged entries from end to end: 1.4 ms for 64 runs of the SDK. In a merge of more runs an entry costs hardly less
 * (docs/benchmarks.md, "When to merge").
 */
const RUNS_MAX = 128;
const AFTER_MS = 5000;

/** Creates a merger for the runs that one process creates: it merges when many are waiting, or when some have waited for seconds. */
export function createTextMerger(db: Pick<Db, "rows">): TextMerger {
  let waiting = 0;
  let timer: NodeJS.Timeout | undefined;
  let isMerging = false;

  const merge = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    isMerging = true;
    waiting = 0;
    // Errors are ignored: searches find unmerged entries, and creates merge a list that has become twice as long.
    await mergeNewTexts(db).catch(() => {});
    isMerging = false;
    schedule();
  };

  const schedule = (): void => {
    if (isMerging || waiting === 0) return;
    if (waiting >= RUNS_MAX) void merge();
    else timer ??= setTimeout(() => void merge(), AFTER_MS).unref();
  };

  return {
    created(runs) {
      waiting += runs;
      schedule();
    },
  };
}
