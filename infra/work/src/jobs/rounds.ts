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
  const rounds = oneAtATime(async () => {
    try {
      if (!isStopped) await round(() => isStopped);
    } catch (error) {
      onError(error);
    }
  });
  const timer = setInterval(() => {
    if (rounds.current() === undefined) void rounds.run();
  }, everyMs).unref();
  if (isFirstNow) void rounds.run();
  return {
    begin: rounds.run,
    async stop() {
      isStopped = true;
      clearInterval(timer);
      await rounds.current();
    },
  };
}

/** Work that never runs twice simultaneously. */
export type OneAtATime<Result> = {
  /** Runs the work now, or after the current run, which may have read before the caller's change; callers share that run. */
  readonly run: () => Promise<Result>;
  /** The current run. */
  readonly current: () => Promise<Result> | undefined;
};

/** Makes work run one at a time. `work` never rejects. */
export function oneAtATime<Result>(work: () => Promise<Result>): OneAtATime<Result> {
  let current: Promise<Result> | undefined;
  let next: Promise<Result> | undefined;
  const runNow = (): Promise<Result> => {
    current = work().finally(() => (current = undefined));
    return current;
  };
  return {
    run() {
      if (current === undefined) return runNow();
      next ??= current.then(() => {
        next = undefined;
        return runNow();
      });
      return next;
    },
    current: () => current,
  };
}
