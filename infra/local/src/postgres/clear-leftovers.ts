import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "../log.ts";
import { stopLeftovers } from "../stop-leftovers.ts";
import { postgresStop } from "./server-process.ts";

/**
 * Makes a cluster ready for a new server: ends one that a killed Tidemark left running, and removes the lock file of one
 * that has ended when its process id has meanwhile gone to some other program (after a power cut that is common), which the
 * server itself would take for a living server. A lock file whose process does not exist is left to the server, which also
 * looks for survivors in shared memory.
 */
export async function clearLeftovers(cluster: string, log: Log): Promise<void> {
  await stopLeftovers(cluster, "postgres", postgresStop, log);
  const lockFile = join(cluster, "postmaster.pid");
  const text = await readFile(lockFile, "utf8").catch(() => undefined);
  if (text !== undefined && isRunning(Number.parseInt(text, 10))) await rm(lockFile, { force: true });
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
