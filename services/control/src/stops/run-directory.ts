import { AppError } from "@tidemark/errors";
import { createRefresher } from "@tidemark/work";
import type { Log } from "@tidemark/telemetry";
import {
  createLiveRuns,
  floorOf,
  wasRestored,
  type KnownRun,
  type RunControlRow,
  type ServerSnapshot,
} from "./live-runs.rules.ts";
import { type readChangedPage, type readRunningPage, isMissingSchema } from "./run-states.sql.ts";

/** Finds runs in memory, and runs that are not in memory in the database. */
export type RunDirectory = {
  /** Begins to load and to poll, without waiting for it. */
  readonly start: () => void;
  /**
   * Returns a run of the organization, immediately if it is in memory; undefined when it does not exist.
   * @throws warehouse_unavailable when memory is too old and cannot be refreshed, and the errors of reading: in doubt, a caller is
   *   not told that a run does not exist, or that it does not have to stop.
   */
  readonly find: (orgId: string, runId: string) => KnownRun | undefined | Promise<KnownRun | undefined>;
  /** Reads changes soon, once for many calls: something has changed. */
  readonly wake: () => void;
  /**
   * Resolves when everything that was committed before the call is in memory. When that takes longer than 2 seconds it
   * resolves anyway, and memory is not used until it has caught up.
   */
  readonly catchUp: () => Promise<void>;
  /** True once all running runs were read. */
  readonly loaded: () => boolean;
  /** Returns how many runs are in memory. */
  readonly count: () => { running: number; ended: number };
  readonly stop: () => Promise<void>;
};

/** The functions that the directory reads with. */
export type RunReaders = {
  readonly runningPage: (page: Parameters<typeof readRunningPage>[1]) => ReturnType<typeof readRunningPage>;
  readonly changedPage: (page: Parameters<typeof readChangedPage>[1]) => ReturnType<typeof readChangedPage>;
  readonly run: (orgId: string, runId: string) => Promise<RunControlRow | undefined>;
};

/** Changes without a message (a run that finished or resumed) must show within a second. */
const POLL_MS = 500;
const RETRY_MS = 500;
/** Many simultaneous stops need one read. */
const COALESCE_MS = 20;
/** A stop must show within ten seconds in every case: older memory is not used. */
const FRESH_MS = 8000;
/** How long a poll waits for memory to be refreshed; clients give up after 0.75 s. */
const REFRESH_MS = 500;
const CATCH_UP_MS = 2000;
/** Other requests wait while a page is taken, some milliseconds. */
const PAGE_ROWS = 1000;

const NIL = "00000000-0000-0000-0000-000000000000";

/** A run that is being read, and the state that a page of changes has contained for it since. */
type LookUp = { answer: Promise<KnownRun | undefined>; overtakenBy: { run: KnownRun | undefined } | undefined };

/** Creates an empty directory; `nowMs` is a clock that never goes back. */
export function createRunDirectory(options: {
  readonly read: RunReaders;
  readonly nowMs: () => number;
  readonly log: Log;
  readonly pageRows?: number;
}): RunDirectory {
  const { read, nowMs, log, pageRows = PAGE_ROWS } = options;
  const live = createLiveRuns();
  const lookUps = new Map<string, LookUp>();
  let since: ServerSnapshot | undefined;
  let neededSinceMs = Number.NEGATIVE_INFINITY;
  let refreshing: Promise<boolean> | undefined;

  const put = (rows: readonly RunControlRow[]): void => {
    live.put(rows);
    if (lookUps.size === 0) return;
    for (const row of rows) {
      const lookUp = lookUps.get(`${row.org_id}/${row.id}`);
      if (lookUp !== undefined) lookUp.overtakenBy = { run: live.putAsked(row) };
    }
  };

  const readAll = async (): Promise<void> => {
    live.beginSnapshot();
    let after = { orgId: NIL, id: NIL };
    let first: ServerSnapshot | undefined;
    for (;;) {
      const { snapshot, rows } = await read.runningPage({ after, limit: pageRows });
      // The next read of changes returns the changes since the first page again.
      first ??= snapshot;
      put(rows);
      const last = rows.at(-1);
      if (last === undefined || rows.length < pageRows) break;
      after = { orgId: last.org_id, id: last.id };
    }
    live.endSnapshot();
    since = first;
  };

  const readChanges = async (from: ServerSnapshot): Promise<void> => {
    let after = { xid: String(floorOf(from)), id: NIL };
    let first: ServerSnapshot | undefined;
    for (;;) {
      const { snapshot, rows, last } = await read.changedPage({ since: from, after, limit: pageRows });
      // The state in memory may never have happened.
      if (wasRestored(from, snapshot)) return readAll();
      first ??= snapshot;
      put(rows);
      if (last === undefined || rows.length < pageRows) break;
      after = last;
    }
    since = first;
  };

  const refresher = createRefresher({
    pass: () => (since === undefined ? readAll() : readChanges(since)),
    pollMs: POLL_MS,
    retryMs: RETRY_MS,
    coalesceMs: COALESCE_MS,
    nowMs,
    onFailed: (error) => {
      if (isMissingSchema(error)) log.info("runs can be read when their service has set up its schema");
      else log.warn("changes of runs could not be read", { error });
    },
    onRecovered: () => log.info("changes of runs are up to date again"),
  });

  const fresh = (): boolean => {
    const currentAtMs = refresher.currentAtMs();
    return currentAtMs !== undefined && currentAtMs >= neededSinceMs && nowMs() - currentAtMs <= FRESH_MS;
  };

  const lookUp = (orgId: string, runId: string): Promise<KnownRun | undefined> => {
    const key = `${orgId}/${runId}`;
    const known = lookUps.get(key);
    if (known !== undefined) return known.answer;
    const made: LookUp = { answer: Promise.resolve(undefined), overtakenBy: undefined };
    const readOne = async (): Promise<KnownRun | undefined> => {
      try {
        const row = await read.run(orgId, runId);
        // This row may be older than the row of a later page, and must not replace it.
        if (made.overtakenBy !== undefined) return made.overtakenBy.run;
        return row === undefined ? undefined : live.putAsked(row);
      } finally {
        lookUps.delete(key);
      }
    };
    lookUps.set(key, made);
    made.answer = readOne();
    return made.answer;
  };

  const findNow = (orgId: string, runId: string): KnownRun | undefined | Promise<KnownRun | undefined> => {
    const run = live.find(runId);
    if (run === undefined) return lookUp(orgId, runId);
    return run.owner.orgId === orgId ? run : undefined;
  };

  // Thousands of callers may ask simultaneously; one pass serves all of them.
  const refreshOnce = (): Promise<boolean> =>
    (refreshing ??= refresher.refresh().finally(() => {
      refreshing = undefined;
    }));

  const findLater = async (orgId: string, runId: string): Promise<KnownRun | undefined> => {
    await atMost(REFRESH_MS, refreshOnce());
    if (fresh()) return findNow(orgId, runId);
    throw new AppError("warehouse_unavailable", "the database is not available; try again", { retryAfterSeconds: 1 });
  };

  return {
    start: refresher.start,
    find: (orgId, runId) => (fresh() ? findNow(orgId, runId) : findLater(orgId, runId)),
    wake: refresher.wake,
    async catchUp() {
      const calledAtMs = nowMs();
      if ((await atMost(CATCH_UP_MS, refresher.refresh())) !== true)
        neededSinceMs = Math.max(neededSinceMs, calledAtMs);
    },
    loaded: refresher.loaded,
    count: live.count,
    stop: refresher.stop,
  };
}

/** Returns the work's result, or undefined when it takes longer than `ms`. */
async function atMost<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}
