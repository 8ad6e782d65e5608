/** Keeps something in memory like its source, by passes that read what has changed. */
export type Refresher = {
  /** Begins the first pass and the polling; does not wait. */
  readonly start: () => void;
  /**
   * Makes a pass that begins now, or after the one at work, which may have read before the caller's
   * change; callers share it. Resolves with its success, never rejects.
   */
  readonly refresh: () => Promise<boolean>;
  /** Something has changed: makes a pass soon, one for many calls. */
  readonly wake: () => void;
  /** True once a pass has succeeded. */
  readonly loaded: () => boolean;
  /** True while the latest pass failed. */
  readonly degraded: () => boolean;
  /** When the latest successful pass began, by the clock that was given; undefined before the first. */
  readonly currentAtMs: () => number | undefined;
  /** No pass begins any more. Resolves when the one at work has ended. */
  readonly stop: () => Promise<void>;
};

/** What a refresher works with; times in milliseconds. */
export type RefresherOptions = {
  /** Reads everything that there is to read. Never runs twice at once. */
  readonly pass: () => Promise<void>;
  /** Time between a successful pass and the next one, when nothing wakes it. */
  readonly pollMs: number;
  /** The same after a failed pass. */
  readonly retryMs: number;
  /** Time that `wake` waits for further calls. */
  readonly coalesceMs: number;
  /** A clock that never goes back. */
  readonly nowMs: () => number;
  /** The first failure after a success, or at all. */
  readonly onFailed: (error: unknown) => void;
  /** The first success after a failure. */
  readonly onRecovered: () => void;
};

/** Makes a refresher that has not begun. */
export function createRefresher(options: RefresherOptions): Refresher {
  const { pass, pollMs, retryMs, coalesceMs, nowMs } = options;
  let currentAtMs: number | undefined;
  let failed = false;
  let stopped = false;
  let running: Promise<boolean> | undefined;
  let queued: Promise<boolean> | undefined;
  let wakeTimer: NodeJS.Timeout | undefined;
  let pollTimer: NodeJS.Timeout | undefined;

  const run = async (): Promise<boolean> => {
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
    if (!stopped) pollTimer = setTimeout(() => void refresh(), failed ? retryMs : pollMs).unref();
    return succeeded;
  };

  const runNow = (): Promise<boolean> => {
    running = run().finally(() => {
      running = undefined;
    });
    return running;
  };

  const refresh = (): Promise<boolean> => {
    if (stopped) return Promise.resolve(false);
    if (running === undefined) return runNow();
    queued ??= running.then(() => {
      queued = undefined;
      return stopped ? false : runNow();
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
      }, coalesceMs).unref();
    },
    loaded: () => currentAtMs !== undefined,
    degraded: () => failed,
    currentAtMs: () => currentAtMs,
    async stop() {
      stopped = true;
      clearTimeout(wakeTimer);
      clearTimeout(pollTimer);
      await running;
    },
  };
}
