import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "../log.ts";
import { stopLeftovers } from "../stop-leftovers.ts";
import { postgresStop } from "./server-process.ts";

/**
 * Makes a cluster ready for a new server. It stops a server that a killed Tidemark left running. It also removes the lock file
 * of a server that has ended when another program now has its process id (common after a power cut): PostgreSQL would take
 * that program for a running server. A lock file whose process does not exist stays: PostgreSQL handles it, and also
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
