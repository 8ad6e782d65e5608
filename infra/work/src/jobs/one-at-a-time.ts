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
