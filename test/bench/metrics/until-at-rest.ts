import { setTimeout as pause } from "node:timers/promises";
import type { BenchStack } from "../bench-stack.ts";

const POLL_MS = 500;
/** PostgreSQL goes from one table to the next with pauses in between. */
const QUIET_MS = 15_000;

const BUSY = `SELECT FROM pg_stat_progress_vacuum UNION ALL SELECT FROM ingest.unindexed_runs`;

/**
 * Waits until no work is left from what was written: its dead rows are vacuumed, and its runs are in the sort-value index.
 * Returns the seconds until then. @throws Error after `timeoutSeconds`
 */
export async function untilAtRest({ owner }: BenchStack, timeoutSeconds = 1200): Promise<number> {
  const started = performance.now();
  let busyAt = started;
  while (performance.now() - busyAt < QUIET_MS) {
    const { rowCount } = await owner.query(BUSY);
    if (rowCount !== 0) busyAt = performance.now();
    if (performance.now() - started > timeoutSeconds * 1000) throw new Error("PostgreSQL does not come to rest");
    await pause(POLL_MS);
  }
  return (busyAt - started) / 1000;
}
