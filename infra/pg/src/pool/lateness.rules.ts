/** How late a database is, from how long its transactions take to begin. */
export type Lateness = {
  /** Notes how long the beginning of a transaction took, in milliseconds. */
  began(ms: number): void;
  /** Returns how much longer than necessary transactions took to begin since the last call, in milliseconds; undefined when none began. */
  take(): number | undefined;
};

/** How fast the believed least time grows, in milliseconds each time: a failover may lead to a database that is farther away. */
const FLOOR_GROWTH_MS = 0.01;

/**
 * Measures how late a database is. Beginning a transaction takes no work, so the time beyond the network round trip is waiting: for a processor of the database,
 * or for this process. The least time seen counts as the round trip.
 */
export function measureLateness(): Lateness {
  let floorMs = Number.POSITIVE_INFINITY;
  let sumMs = 0;
  let count = 0;
  return {
    began(ms) {
      floorMs = Math.min(floorMs, ms);
      sumMs += ms;
      count += 1;
    },
    take() {
      if (count === 0) return undefined;
      const lateMs = sumMs / count - floorMs;
      floorMs += FLOOR_GROWTH_MS;
      sumMs = 0;
      count = 0;
      return lateMs;
    },
  };
}
