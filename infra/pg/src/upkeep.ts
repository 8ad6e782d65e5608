/** Rounds of upkeep in the background. */
export type Upkeep = {
  /** Begins a round now, or after the current one. Does not wait. */
  readonly begin: () => void;
  /** Ends the intervals, and waits for the rounds that have begun or wait for their turn. */
  readonly stop: () => Promise<void>;
};

/** Does a round of upkeep every `everyMs` from now on, one after the other. A round that fails is tried again with the next one. */
export function startUpkeep<Report>(options: {
  readonly round: () => Promise<Report>;
  readonly everyMs: number;
  readonly onDone: (report: Report) => void;
  readonly onError: (error: unknown) => void;
}): Upkeep {
  let current = Promise.resolve();
  const begin = (): void => {
    current = current.then(options.round).then(options.onDone, options.onError);
  };
  const timer = setInterval(begin, options.everyMs);
  timer.unref();
  return {
    begin,
    stop: () => {
      clearInterval(timer);
      return current;
    },
  };
}

/** Repeats a step that changes at most `rowsMax` rows until it finds fewer, so that each transaction is small. Returns the rows of all steps. */
export async function inBatches(rowsMax: number, step: (rowsMax: number) => Promise<number>): Promise<number> {
  for (let total = 0; ;) {
    const changed = await step(rowsMax);
    total += changed;
    if (changed < rowsMax) return total;
  }
}
