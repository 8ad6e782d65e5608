import { AppError } from "@tidemark/errors";
import { createRefresher } from "@tidemark/refresh";
import type { Log } from "@tidemark/telemetry";
import type { KnownRun, RunControlRow } from "./domain/known-run.ts";
import { createLiveRuns } from "./domain/live-runs.ts";
import { floorOf, hasLostPast, type ServerSnapshot } from "./domain/server-snapshot.ts";
import { isMissingSchema } from "./store/missing-schema.ts";
import type { readChangedPage } from "./store/read-changed-page.ts";
import type { readRunningPage } from "./store/read-running-page.ts";

/** Finds runs: in memory, and where memory does not know, in the database. */
export type RunDirectory = {
  /** Begins to load and to poll; does not wait. */
  readonly start: () => void;
  /**
   * A run of the organization, from memory if it is there; undefined when there is none.
   * @throws warehouse_unavailable when memory is too old and cannot be renewed, and what reading throws:
   *   in doubt nobody is told that a run does not exist, or that it need not stop.
   */
  readonly find: (orgId: string, runId: string) => KnownRun | undefined | Promise<KnownRun | undefined>;
  /** Something has changed: looks for it soon, once for many calls. */
  readonly wake: () => void;
  /**
   * Resolves when everything that was committed before the call is in memory. When that takes too
   * long it resolves all the same, and memory is not believed until it has caught up.
   */
  readonly catchUp: () => Promise<void>;
  /** True once all running runs were read. */
  readonly loaded: () => boolean;
  /** How many runs are in memory. */
  readonly count: () => { running: number; ended: number };
  readonly stop: () => Promise<void>;
};

/** What the directory reads with. */
export type RunReaders = {
  readonly runningPage: (page: Parameters<typeof readRunningPage>[1]) => ReturnType<typeof readRunningPage>;
  readonly changedPage: (page: Parameters<typeof readChangedPage>[1]) => ReturnType<typeof readChangedPage>;
  readonly run: (orgId: string, runId: string) => Promise<RunControlRow | undefined>;
};

/** Changes that no message announces (a run finished, resumed) must show within a second. */
const POLL_MS = 500;
const RETRY_MS = 500;
/** Many stops at once need one look. */
const COALESCE_MS = 20;
/** A stop must show within ten seconds whatever happens, or nothing is said. */
const FRESH_MS = 8000;
/** How long a poll waits for memory to become believable; clients give up after 0.75 s. */
const RENEW_MS = 500;
const CATCH_UP_MS = 2000;
const PAGE_ROWS = 2000;

const NIL = "00000000-0000-0000-0000-000000000000";

/** A run that is being read, and what a page of changes said of it meanwhile. */
type LookUp = { answer: Promise<KnownRun | undefined>; overtakenBy: KnownRun | undefined };

/** Makes a directory that knows nothing yet; `nowMs` is a clock that never goes back. */
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
  let renewal: Promise<boolean> | undefined;

  const put = (rows: readonly RunControlRow[]): void => {
    live.put(rows);
    if (lookUps.size === 0) return;
    for (const row of rows) {
      const lookUp = lookUps.get(`${row.org_id}/${row.id}`);
      if (lookUp !== undefined) lookUp.overtakenBy = live.putAsked(row);
    }
  };

  const readAll = async (): Promise<void> => {
    live.beginSnapshot();
    let after = { orgId: NIL, id: NIL };
    let first: ServerSnapshot | undefined;
    for (;;) {
      const { snapshot, rows } = await read.runningPage({ after, limit: pageRows });
      // What changes while the pages are read comes again after them.
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
      // It was restored, and what is in memory may never have happened.
      if (hasLostPast(from, snapshot)) return readAll();
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
        // What is read here may be older than what a page brought, and must not take its place.
        return made.overtakenBy ?? (row === undefined ? undefined : live.putAsked(row));
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

  // Thousands may ask at once; one pass serves them all.
  const renew = (): Promise<boolean> =>
    (renewal ??= refresher.refresh().finally(() => {
      renewal = undefined;
    }));

  const findLater = async (orgId: string, runId: string): Promise<KnownRun | undefined> => {
    await atMost(RENEW_MS, renew());
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

/** The work's result, or undefined when it takes longer. */
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
