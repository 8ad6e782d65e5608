/** Milliseconds of a tick of the event loop in which requests may be admitted. */
export const TICK_MS = 4;

/** Admits requests in ticks of the event loop. */
export type Admissions = {
  /**
   * Calls `goOn` for a request of an organization: immediately, or in a later tick when requests have taken this one, or earlier ones of its organization
   * wait. Those that wait are called in the order of their organization, organizations in turns.
   */
  readonly enter: (orgId: string, goOn: () => void) => void;
  /** The number of waiting requests. */
  readonly waiting: () => number;
};

/**
 * Bounds what requests that arrive together do in one tick. The event loop handles all that has arrived before it looks at anything else: without a bound,
 * 2,400 requests of one organization hold it for as long as all of them take to be admitted and begun. A request that arrives alone pays for one look at the
 * clock.
 */
export function createAdmissions(): Admissions {
  const queues = new Map<string, (() => void)[]>();
  /** Since when requests have been admitted in this tick; undefined: none has been. */
  let sinceMs: number | undefined;
  let isTickEnding = false;
  let waiting = 0;

  const isLeft = (): boolean => sinceMs !== undefined && performance.now() - sinceMs < TICK_MS;

  const beginTick = (): void => {
    sinceMs = performance.now();
    if (isTickEnding) return;
    isTickEnding = true;
    setImmediate(endTick);
  };

  const endTick = (): void => {
    isTickEnding = false;
    sinceMs = undefined;
    if (queues.size > 0) void admitWaiting();
  };

  const admitWaiting = async (): Promise<void> => {
    for (beginTick(); queues.size > 0 && isLeft();) {
      takeNext()();
      // Work that it has begun continues first, and counts as well.
      await Promise.resolve();
    }
    // Requests that arrive before the end of the tick have as long.
    sinceMs = undefined;
  };

  const takeNext = (): (() => void) => {
    const [[orgId, queue]] = queues as unknown as [[string, (() => void)[]]];
    queues.delete(orgId);
    const next = queue.shift()!;
    if (queue.length > 0) queues.set(orgId, queue);
    waiting -= 1;
    return next;
  };

  return {
    enter(orgId, goOn) {
      if (sinceMs === undefined) beginTick();
      const queue = queues.get(orgId);
      if (queue === undefined && isLeft()) {
        goOn();
        return;
      }
      waiting += 1;
      if (queue === undefined) queues.set(orgId, [goOn]);
      else queue.push(goOn);
    },
    waiting: () => waiting,
  };
}
