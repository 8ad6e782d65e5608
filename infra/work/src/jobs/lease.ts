/** A lease on a piece of work in the database: while it lasts, no other process does the work. */
export type Lease = {
  /** How long a process may be silent before another one continues the work. */
  readonly seconds: number;
  /** Prolongs the lease to this number of seconds from now. Resolves to false when another process has it. */
  readonly renew: (seconds: number) => Promise<boolean>;
};

/**
 * Does work under a lease that was just taken, and renews it three times in its time. The work asks `isOver` between its steps: the lease was lost, or
 * `isStopped`. Work that throws or is over gives the lease back, so that another process, or this one later, continues. If that fails too, the lease runs
 * out by itself. A fence has to refuse the writes of a process without the lease.
 * @throws any error of the work
 */
export async function underLease<Result>(
  { seconds, renew }: Lease,
  isStopped: () => boolean,
  work: (isOver: () => boolean) => Promise<Result>,
): Promise<Result> {
  let isLost = false;
  const prolong = async (): Promise<void> => {
    if (!(await renew(seconds))) isLost = true;
  };
  const isOver = (): boolean => isLost || isStopped();
  // A lease that cannot be renewed now can be in the next third.
  const timer = setInterval(() => void prolong().catch(() => {}), (seconds * 1000) / 3).unref();
  let isGivenBack = true;
  try {
    const result = await work(isOver);
    isGivenBack = isOver();
    return result;
  } finally {
    clearInterval(timer);
    // A lease that cannot be given back runs out.
    if (isGivenBack && !isLost) await renew(0).catch(() => {});
  }
}
