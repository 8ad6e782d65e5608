import { notFound } from "@tidemark/errors";
import { LRUCache } from "lru-cache";
import { canSee, type Caller } from "./requests.ts";
import { createRefresher } from "@tidemark/work";
import type { Log } from "@tidemark/telemetry";

/** The organization and the project that own a run. Neither ever changes, but the run may be deleted and restored. */
export type RunRef = { readonly orgId: string; readonly projectId: string };

/** A run, or without one all runs of a project, that may have been hidden or shown again. */
export type RunChange = { readonly projectId: string; readonly runId: string | undefined };

/**
 * Which runs exist, and who owns them. The directory keeps the runs that it found until it is asked to forget them. It never caches that a run does not exist,
 * because the run may exist a moment later.
 */
export type RunDirectory = {
  /** Returns whether the run is known to exist. @throws not_found when it is and the caller may not see it */
  knows(caller: Caller, runId: string): boolean;
  /** Keeps a run that a write found. */
  learn(runId: string, run: RunRef): void;
  /** @throws not_found unless all the runs exist and the caller may see them */
  require(caller: Caller, runIds: readonly string[]): Promise<void>;
  /** Returns the project of a run. @throws not_found unless the run exists and the caller may see it */
  projectOf(caller: Caller, runId: string): Promise<string>;
};

/** Finds which of the runs an organization has. */
export type FindRuns = (
  orgId: string,
  runIds: readonly string[],
) => Promise<readonly { id: string; projectId: string }[]>;

/** A read or write that began before a run was deleted ends within this time, and the runs that it found are not kept. */
const IN_FLIGHT_MS = 60_000;
const CHANGES_MAX = 100_000;

/** The directories of this process, so that a run deleted here is unknown here when the deletion is answered. */
const directories = new Set<{ forget: (change: RunChange) => void; forgetAll: () => void }>();

/** Makes all directories of this process ask again for a run, or for those of a project. */
export function forgetRuns(change: RunChange): void {
  for (const directory of directories) directory.forget(change);
}

/** Makes all directories of this process ask again for every run. */
export function forgetAllRuns(): void {
  for (const directory of directories) directory.forgetAll();
}

/** Creates a directory that asks `find` for unknown runs and keeps the `runsMax` most recently used runs. */
export function createRunDirectory(find: FindRuns, runsMax: number): RunDirectory {
  const runs = new LRUCache<string, RunRef>({ max: runsMax });
  const changes = new LRUCache<string, true>({ max: CHANGES_MAX, ttl: IN_FLIGHT_MS });

  const keep = (runId: string, run: RunRef): void => {
    if (!changes.has(runId) && !changes.has(run.projectId)) runs.set(runId, run);
  };
  const known = (caller: Caller, runId: string): RunRef | undefined => {
    const run = runs.get(runId);
    // Run ids are unique in the whole installation, so a run of another organization never has the id of one of ours.
    if (run !== undefined && !canSee(caller, run)) throw notFound("run");
    return run;
  };
  const load = async (caller: Caller, runIds: readonly string[]): Promise<RunRef[]> => {
    const { orgId } = caller;
    const found = await find(orgId, runIds);
    const refs = found.map(({ id, projectId }) => {
      const run = { orgId, projectId };
      keep(id, run);
      return run;
    });
    if (refs.length < runIds.length || refs.some((run) => !canSee(caller, run))) throw notFound("run");
    return refs;
  };
  directories.add({
    forget: ({ projectId, runId }) => {
      changes.set(runId ?? projectId, true);
      if (runId !== undefined) runs.delete(runId);
      else for (const [id, run] of runs.entries()) if (run.projectId === projectId) runs.delete(id);
    },
    forgetAll: () => runs.clear(),
  });

  return {
    knows: (caller, runId) => known(caller, runId) !== undefined,
    learn: keep,
    async require(caller, runIds) {
      const unknown = [...new Set(runIds)].filter((runId) => known(caller, runId) === undefined);
      if (unknown.length > 0) await load(caller, unknown);
    },
    async projectOf(caller, runId) {
      const run = known(caller, runId) ?? (await load(caller, [runId]))[0]!;
      return run.projectId;
    },
  };
}

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
