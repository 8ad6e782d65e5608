import { setTimeout as pause } from "node:timers/promises";
import type { BenchStack } from "../bench-stack.ts";

const POLL_MS = 500;
/** PostgreSQL goes from one table to the next with pauses in between. */
const QUIET_MS = 15_000;

/** Waits until PostgreSQL no longer vacuums what was written. Returns the seconds until it had ended. @throws Error after `timeoutSeconds` */
export async function untilVacuumed({ owner }: BenchStack, timeoutSeconds = 600): Promise<number> {
  const started = performance.now();
  let busyAt = started;
  while (performance.now() - busyAt < QUIET_MS) {
    const { rowCount } = await owner.query("SELECT FROM pg_stat_progress_vacuum");
    if (rowCount !== 0) busyAt = performance.now();
    if (performance.now() - started > timeoutSeconds * 1000) throw new Error("PostgreSQL vacuums without an end");
    await pause(POLL_MS);
  }
  return (busyAt - started) / 1000;
}
