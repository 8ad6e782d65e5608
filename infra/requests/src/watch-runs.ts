import { createRefresher } from "@tidemark/work";
import type { Log } from "@tidemark/telemetry";
import { forgetAllRuns, forgetRuns, type RunChange } from "./run-directory.ts";

/** The runs hidden or shown again since a snapshot of the database, and the snapshot to continue with. */
type RunChanges = { readonly snapshot: string; readonly changes: readonly RunChange[] };

/** A row of `runs.visibility_changes_v1`: the first has the snapshot and no change. */
type RunChangeRow = {
  readonly snapshot: string | null;
  readonly projectId: string | null;
  readonly runId: string | null;
};

/** Reads the rows of `runs.visibility_changes_v1`. */
function runChangesOf(rows: readonly RunChangeRow[]): RunChanges {
  const changes = rows.flatMap(({ projectId, runId }) =>
    projectId === null ? [] : [{ projectId, runId: runId ?? undefined }],
  );
  return { snapshot: rows[0]!.snapshot!, changes };
}

/** Reads the changes since a snapshot; undefined: only the current snapshot. */
type ReadRunChanges = (since: string | undefined) => Promise<readonly RunChangeRow[]>;

const POLL_MS = 500;
const COALESCE_MS = 20;
/** A deletion must show within ten seconds in every case: older memory is forgotten. */
const FRESH_MS = 8000;
/** Changes are kept for a day; a process that was away for longer forgets everything. */
const REACH_MS = 12 * 3_600_000;

/**
 * Makes the directories of runs of this process forget what other processes delete and restore, within a second, until it is stopped.
 * `nowMs` is a clock that never goes back.
 */
export function watchRuns(options: {
  readonly read: ReadRunChanges;
  readonly log: Log;
  readonly nowMs: () => number;
}): { readonly stop: () => Promise<void> } {
  const { read, log, nowMs } = options;
  let since: string | undefined;
  let currentAtMs = nowMs();

  const pass = async (): Promise<void> => {
    const startedAtMs = nowMs();
    try {
      const { snapshot, changes } = runChangesOf(await read(since));
      if (since === undefined || startedAtMs - currentAtMs > REACH_MS || endOf(snapshot) < endOf(since))
        forgetAllRuns();
      for (const change of changes) forgetRuns(change);
      since = snapshot;
      currentAtMs = startedAtMs;
    } catch (error) {
      if (startedAtMs - currentAtMs > FRESH_MS) forgetAllRuns();
      throw error;
    }
  };
  const refresher = createRefresher({
    pass,
    pollMs: POLL_MS,
    retryMs: POLL_MS,
    coalesceMs: COALESCE_MS,
    nowMs,
    onFailed: (error) => log.warn("deleted runs could not be read", { error }),
    onRecovered: () => log.info("deleted runs are up to date again"),
  });
  refresher.start();
  return { stop: refresher.stop };
}

/** The end of a snapshot, `xmin:xmax:xips`. It goes back when a database was restored. */
function endOf(snapshot: string): bigint {
  return BigInt(snapshot.split(":")[1] ?? "0");
}
