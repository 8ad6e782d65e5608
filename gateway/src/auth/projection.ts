import type { GetProjectionResponse } from "@tidemark/proto/control/v1/control";
import type { Log } from "@tidemark/telemetry";
import type { Directory } from "./directory.ts";

/** Keeps the directory like the control service's tables. */
export type Projection = {
  /** Begins to load and to poll; does not wait. */
  readonly start: () => void;
  /**
   * Reads all changes there are when it is called, and resolves when they are in the directory.
   * Does not reject: a failure shows in `degraded`.
   */
  readonly refresh: () => Promise<void>;
  /** Something has changed: refreshes soon, once for many calls. */
  readonly wake: () => void;
  /** True once everything has been read for the first time. */
  readonly loaded: () => boolean;
  /** True while the latest refresh failed. */
  readonly degraded: () => boolean;
  /** True while the directory may be believed: the latest success is at most 60 s old. */
  readonly fresh: () => boolean;
  readonly stop: () => void;
};

/** Behind the events, so that a lost one costs seconds (API specification, Health: control projection). */
const POLL_MS = 5000;
const RETRY_MS = 500;
/** Many changes at once need one refresh. */
const COALESCE_MS = 20;
const FRESH_MS = 60_000;

/** Makes a projection; `fetchPage` asks the control service, `nowMs` is a clock that never goes back. */
export function createProjection(options: {
  readonly directory: Directory;
  readonly fetchPage: (cursor: string) => Promise<GetProjectionResponse>;
  readonly nowMs: () => number;
  readonly log: Log;
}): Projection {
  const { directory, fetchPage, nowMs, log } = options;
  let cursor = "";
  let succeededAtMs: number | undefined;
  let failed = false;
  let stopped = false;
  let running: Promise<void> | undefined;
  let queued: Promise<void> | undefined;
  let wakeTimer: NodeJS.Timeout | undefined;
  let pollTimer: NodeJS.Timeout | undefined;

  const readChanges = async (): Promise<void> => {
    const startedAtMs = nowMs();
    let more = true;
    while (more) {
      const page = await fetchPage(cursor);
      if (page.fromStart) directory.beginSnapshot();
      directory.put(page);
      ({ cursor, more } = page);
    }
    directory.endSnapshot();
    succeededAtMs = startedAtMs;
  };

  const run = async (): Promise<void> => {
    clearTimeout(pollTimer);
    try {
      await readChanges();
      if (failed) log.info("the control projection is up to date again");
      failed = false;
    } catch (error) {
      if (!failed) log.warn("the control projection could not be refreshed", { error });
      failed = true;
    }
    if (!stopped) pollTimer = setTimeout(() => void refresh(), failed ? RETRY_MS : POLL_MS).unref();
  };

  const runNow = (): Promise<void> => {
    running = run().finally(() => {
      running = undefined;
    });
    return running;
  };

  // A refresh at work may have read before the caller's change: such a caller waits for the next one.
  const refresh = (): Promise<void> => {
    if (stopped) return Promise.resolve();
    if (running === undefined) return runNow();
    queued ??= running.then(() => {
      queued = undefined;
      return stopped ? undefined : runNow();
    });
    return queued;
  };

  return {
    start: () => void refresh(),
    refresh,
    wake() {
      if (stopped) return;
      wakeTimer ??= setTimeout(() => {
        wakeTimer = undefined;
        void refresh();
      }, COALESCE_MS).unref();
    },
    loaded: () => succeededAtMs !== undefined,
    degraded: () => failed,
    fresh: () => succeededAtMs !== undefined && nowMs() - succeededAtMs <= FRESH_MS,
    stop() {
      stopped = true;
      clearTimeout(wakeTimer);
      clearTimeout(pollTimer);
    },
  };
}
