import { oneAtATime } from "./rounds.ts";

/** Keeps a copy in memory up to date with its source, by passes that read what has changed. */
export type Refresher = {
  /** Starts the first pass and the polling; does not wait. */
  readonly start: () => void;
  /**
   * Makes a pass that starts now, or after the running one, which may have read before the caller's
   * change; callers share it. Resolves with whether it succeeded, never rejects.
   */
  readonly refresh: () => Promise<boolean>;
  /** Makes a pass soon, one for many calls, because something has changed. */
  readonly wake: () => void;
  /** True once a pass has succeeded. */
  readonly loaded: () => boolean;
  /** True if the latest pass failed. */
  readonly degraded: () => boolean;
  /** When the latest successful pass started, by `nowMs`; undefined before the first. */
  readonly currentAtMs: () => number | undefined;
  /** Starts no further pass. Resolves when the running one has ended. */
  readonly stop: () => Promise<void>;
};

/** Options of a refresher; times in milliseconds. */
export type RefresherOptions = {
  /** Reads all changes. Never runs twice simultaneously. */
  readonly pass: () => Promise<void>;
  /** Time between a successful pass and the next one if nothing wakes it. */
  readonly pollMs: number;
  /** The same after a failed pass. */
  readonly retryMs: number;
  /** Time that `wake` waits for further calls. */
  readonly coalesceMs: number;
  /** A clock that never goes back. */
  readonly nowMs: () => number;
  /** Called with the first failure, and with the first one after a success. */
  readonly onFailed: (error: unknown) => void;
  /** Called at the first success after a failure. */
  readonly onRecovered: () => void;
};

/** Creates a refresher that has not started. */
export function createRefresher(options: RefresherOptions): Refresher {
  const { pass, pollMs, retryMs, coalesceMs, nowMs } = options;
  let currentAtMs: number | undefined;
  let failed = false;
  let stopped = false;
  let wakeTimer: NodeJS.Timeout | undefined;
  let pollTimer: NodeJS.Timeout | undefined;

  const passes = oneAtATime(async (): Promise<boolean> => {
    if (stopped) return false;
    clearTimeout(pollTimer);
    const startedAtMs = nowMs();
    let succeeded = true;
    try {
      await pass();
      currentAtMs = startedAtMs;
      if (failed) options.onRecovered();
    } catch (error) {
      succeeded = false;
      if (!failed) options.onFailed(error);
    }
    failed = !succeeded;
    if (!stopped) pollTimer = setTimeout(() => void passes.run(), failed ? retryMs : pollMs).unref();
    return succeeded;
  });

  return {
    start: () => void passes.run(),
    refresh: passes.run,
    wake() {
      if (stopped) return;
      wakeTimer ??= setTimeout(() => {
        wakeTimer = undefined;
        void passes.run();
      }, coalesceMs).unref();
    },
    loaded: () => currentAtMs !== undefined,
    degraded: () => failed,
    currentAtMs: () => currentAtMs,
    async stop() {
      stopped = true;
      clearTimeout(wakeTimer);
      clearTimeout(pollTimer);
      await passes.current();
    },
  };
}
