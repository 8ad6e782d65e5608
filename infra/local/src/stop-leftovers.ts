import type { Log } from "./log.ts";
import { pollUntil } from "./poll-until.ts";
import { processesIn } from "./processes-in.ts";
import type { StopStep } from "./start-child.ts";

/**
 * Stops the servers that a killed Tidemark left behind in a folder, in steps, and returns when none is left. The caller
 * holds the folder's claim, so no running Tidemark can own them.
 *
 * @param program file name of the server's executable
 * @returns how many processes there were
 */
export async function stopLeftovers(
  folder: string,
  program: string,
  steps: readonly StopStep[],
  log: Log,
): Promise<number> {
  const found = await processesIn(folder, program);
  if (found.length === 0) return 0;
  log(`Stopping ${program}, which a killed Tidemark left behind`);
  for (const { signal, waitMs } of steps) {
    const running = await processesIn(folder, program);
    const ids = new Set(running.map(({ pid }) => pid));
    // A server ends its own helper processes; signals may mean other things to them.
    for (const { pid, parent } of running) if (signal === "SIGKILL" || !ids.has(parent)) sendSignal(pid, signal);
    const gone = await pollUntil(async () => ((await processesIn(folder, program)).length === 0 ? true : undefined), {
      everyMs: 50,
      timeoutMs: waitMs,
    });
    if (gone) return found.length;
  }
  throw new Error(`processes of ${program} in ${folder} do not end`);
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has already ended.
  }
}
