import type { ModuleContext } from "@tidemark/host";
import { logCompaction } from "./compact-log-lines.ts";
import { metricCompaction } from "./compact-metrics.ts";
import { FOLD_BOUNDS, rankCompaction } from "./compact-rank-metrics.ts";
import { startCompaction } from "./work-loop.ts";
import { createWriteMarks, type WriteMarks } from "./write-marks.ts";

/** Longer than a write waits for a connection (1 s) and for its key (3 s). */
const SETTLE_SECONDS = 5;

/** The compactor of a process that takes run data. */
export type RunDataCompaction = {
  /** Which writes of console lines leave a mark; what they are told apart by is the run and the stream. */
  readonly logMarks: WriteMarks;
  /** Which writes of metrics leave a mark; told apart by the run. */
  readonly metricMarks: WriteMarks;
  /** Which writes of rank metrics leave a mark; told apart by the run and the set of keys. */
  readonly rankMarks: WriteMarks;
  /** Ends after the step in hand. */
  stop(): Promise<void>;
};

/** Starts the compaction of all that lands here. Another kind of data is one more kind in the list, with marks of its own. */
export function compactRunData(
  context: Pick<ModuleContext, "workerDb" | "metrics" | "log">,
  config: { readonly compactAfterSeconds: number; readonly runsRemembered: number },
): RunDataCompaction {
  const db = context.workerDb();
  const patienceSeconds = config.compactAfterSeconds;
  const settleSeconds = Math.min(SETTLE_SECONDS, patienceSeconds);
  const compaction = startCompaction({
    db,
    kinds: [
      logCompaction(db, { settleSeconds, patienceSeconds }),
      metricCompaction(db, { patienceSeconds }),
      rankCompaction(db, { patienceSeconds }),
    ],
    metrics: context.metrics,
    log: context.log,
  });
  const marks = (soonSeconds: number, rowsSoon?: number): WriteMarks =>
    createWriteMarks({
      nowMs: () => performance.now(),
      soonSeconds,
      laterSeconds: patienceSeconds,
      remembered: config.runsRemembered,
      ...(rowsSoon === undefined ? {} : { rowsSoon }),
    });
  return {
    logMarks: marks(settleSeconds),
    // Of metrics a row that can be seen needs no time to settle.
    metricMarks: marks(0),
    rankMarks: marks(FOLD_BOUNDS.restSeconds, FOLD_BOUNDS.entriesMin),
    stop: () => compaction.stop(),
  };
}
