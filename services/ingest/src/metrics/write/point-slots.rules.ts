/** How many counters of points a project has (the check of ingest.project_points). */
const POINT_SLOTS = 16;

/** Gives each group of writes one of the counters of its projects. */
export type PointSlots = {
  /** Returns a counter, which is reused after fifteen others: more than a process has groups at a time. */
  next(): number;
};

/**
 * Creates the counters of a process. They take turns from a random one on, so that two processes rarely use the same one at a time, and not again
 * and again. It also spreads the old versions of a counter that a long transaction keeps PostgreSQL from removing.
 */
export function createPointSlots(random: () => number): PointSlots {
  let slot = Math.floor(random() * POINT_SLOTS);
  return {
    next: () => {
      slot = (slot + 1) % POINT_SLOTS;
      return slot;
    },
  };
}
