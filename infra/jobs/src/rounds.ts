/** Work in the background that a process repeats. */
export type Rounds = {
  /**
   * Begins a round now, or after the current one, which may have read before the caller's change; callers share it. Resolves when it has ended, with or
   * without an error, or immediately after `stop`. Never rejects.
   */
  readonly begin: () => Promise<void>;
  /** Begins no further round. Resolves when the current one has ended. */
  readonly stop: () => Promise<void>;
};

/** The options of rounds. */
export type RoundsOptions = {
  /** Does a round. Never runs twice simultaneously. Long ones end early when `isStopped` says so. */
  readonly round: (isStopped: () => boolean) => Promise<void>;
  /** Milliseconds from the begin of a round to the next one, which is left out while a round takes longer. */
  readonly everyMs: number;
  /** Called with the error of a round. The next round tries again. */
  readonly onError: (error: unknown) => void;
  /** Whether the first round begins immediately, which is the default, or after `everyMs`. */
  readonly isFirstNow?: boolean;
};

/** Starts rounds. They do not keep the process alive. */
export function startRounds({ round, everyMs, onError, isFirstNow = true }: RoundsOptions): Rounds {
  let isStopped = false;
  let current: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  const run = (): Promise<void> => {
    if (isStopped) return Promise.resolve();
    current = (async () => round(() => isStopped))()
      .catch(onError)
      .finally(() => (current = undefined));
    return current;
  };
  const begin = (): Promise<void> => {
    if (current === undefined) return run();
    next ??= current.then(() => {
      next = undefined;
      return run();
    });
    return next;
  };

  const timer = setInterval(() => {
    if (current === undefined) void run();
  }, everyMs).unref();
  if (isFirstNow) void run();
  return {
    begin,
    async stop() {
      isStopped = true;
      clearInterval(timer);
      await current;
    },
  };
}
