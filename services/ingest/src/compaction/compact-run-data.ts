import type { ModuleContext } from "@tidemark/host";
import { logCompaction } from "../logs/compact-log-lines.ts";
import { RANK_COMPACTION_BOUNDS, rankCompaction } from "../rank-metrics/compact-rank-metrics.ts";
import { metricCompaction } from "../metrics/compact/compact-metrics.ts";
import { createDirtyMarkers, type DirtyMarkers } from "./dirty-markers.rules.ts";
import { startCompaction } from "./work-loop.ts";

/** The age at which a landing segment of console lines may be compacted: longer than a write waits for a connection (1 s) and for its key (3 s). */
const REST_SECONDS = 5;

/** The compactor of a process that stores run data, and the dirty markers that drive it. */
export type RunDataCompaction = {
  /** For writes of console lines, by run and stream. */
  readonly logMarkers: DirtyMarkers;
  /** For writes of metrics, by run. */
  readonly metricMarkers: DirtyMarkers;
  /** For writes of rank metrics, by run and set of keys. */
  readonly rankMarkers: DirtyMarkers;
  /** Ends the compactor after its current step. */
  stop(): Promise<void>;
};

/** Starts the compaction of all run data. To add a kind of data, add it to the list, with its own dirty markers. */
export function compactRunData(
  context: Pick<ModuleContext, "workerDb" | "metrics" | "log">,
  config: { readonly compactAfterSeconds: number; readonly runsRemembered: number },
): RunDataCompaction {
  const db = context.workerDb();
  const patienceSeconds = config.compactAfterSeconds;
  const restSeconds = Math.min(REST_SECONDS, patienceSeconds);
  const compaction = startCompaction({
    db,
    kinds: [
      logCompaction(db, { restSeconds, patienceSeconds }),
      metricCompaction(db, { patienceSeconds }),
      rankCompaction(db, { patienceSeconds }),
    ],
    metrics: context.metrics,
    log: context.log,
  });
  const markersOf = (soonSeconds: number, rowsSoon?: number): DirtyMarkers =>
    createDirtyMarkers({
      nowMs: () => performance.now(),
      soonSeconds,
      laterSeconds: patienceSeconds,
      remembered: config.runsRemembered,
      ...(rowsSoon === undefined ? {} : { rowsSoon }),
    });
  return {
    logMarkers: markersOf(restSeconds),
    // A landing segment of metrics may be compacted as soon as it is visible.
    metricMarkers: markersOf(0),
    rankMarkers: markersOf(RANK_COMPACTION_BOUNDS.restSeconds, RANK_COMPACTION_BOUNDS.entriesMin),
    stop: () => compaction.stop(),
  };
}
