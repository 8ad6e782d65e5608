/** How late a database is, from how long its transactions take to begin. */
export type Lateness = {
  /** Notes how long the beginning of a transaction took, in milliseconds. */
  began(ms: number): void;
  /** Returns how much longer transactions took to begin since the last call than they must, in milliseconds; undefined when none began. */
  take(): number | undefined;
};

/** How fast the least time that is believed grows, in milliseconds each time: a failover may lead to a database that is farther away. */
const FLOOR_GROWTH_MS = 0.01;

/**
 * Measures how late a database is. To begin a transaction is no work, so what it takes beyond the way there and back is waiting: for a processor of the database, or for
 * this process. The least time that was seen stands for the way.
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
