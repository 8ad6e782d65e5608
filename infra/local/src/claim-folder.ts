import { mkdir, readFile, readdir, readlink, realpath } from "node:fs/promises";
import { join, basename } from "node:path";
import { explainFailure, startError } from "./toolcache/failures.mjs";
import { tryLock } from "./toolcache/lock.mjs";
import { execFileSync } from "node:child_process";
import { pollUntil } from "./poll-until.ts";
import type { Log, StopStep } from "./start-child.ts";

/** The right to a folder, until it is released or this process ends. */
export type Claim = { release(): Promise<void> };

/**
 * Makes a data folder, readable for its owner only, and claims it for this process. The claim of a process that has ended
 * does not count.
 *
 * @throws StartError in one line when a running Tidemark has claimed it, or when it cannot be written
 */
export async function claimFolder(folder: string): Promise<Claim> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const attempt = await tryLock(join(folder, "in-use.lock"));
    if ("lock" in attempt) return attempt.lock;
    const who = attempt.holder === undefined ? "" : ` (process ${attempt.holder.pid} on ${attempt.holder.host})`;
    throw startError(
      `the data folder ${folder} is in use by another Tidemark${who}: stop that one, or choose another folder`,
    );
  } catch (error) {
    throw unusableFolder(folder, error);
  }
}

/** Returns the same error, or a StartError that says why the operating system refused the folder. */
export function unusableFolder(folder: string, error: unknown): unknown {
  if (typeof error !== "object" || error === null || !("code" in error)) return error;
  const code = String(error.code);
  const cause = explainFailure(code === "EEXIST" ? "ENOTDIR" : code);
  return cause === undefined ? error : startError(`the data folder ${folder} cannot be used: ${cause}`, error);
}

/**
 * Stops the servers that a killed Tidemark left behind in a folder, in steps, and returns when none is left. The caller
 * holds the folder's claim, so no running Tidemark can own them.
 *
 * @param program file name of the server's executable
 * @returns the number of processes
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

/** A running process and its parent. */
export type RunningProcess = { pid: number; parent: number };

/**
 * Returns the processes of one program that work in one folder. On Linux that is their current folder, which only the same
 * account or root can see; elsewhere their command lines name it (untried).
 *
 * @param program file name of the executable, so that a person's shell in that folder never counts
 */
export async function processesIn(folder: string, program: string): Promise<RunningProcess[]> {
  const real = await realpath(folder).catch(() => folder);
  if (process.platform !== "linux") return processesNaming(real, program);
  const found: RunningProcess[] = [];
  for (const entry of await readdir("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      if ((await readlink(`/proc/${entry}/cwd`)) !== real) continue;
      // An executable that was replaced meanwhile shows as "name (deleted)".
      if (basename(await readlink(`/proc/${entry}/exe`)).split(" ")[0] !== program) continue;
      const parent = /^PPid:\s*(\d+)/m.exec(await readFile(`/proc/${entry}/status`, "utf8"))?.[1];
      found.push({ pid: Number(entry), parent: Number(parent) });
    } catch {
      // It has ended, or belongs to another user.
    }
  }
  return found;
}

function processesNaming(folder: string, program: string): RunningProcess[] {
  return execFileSync("ps", ["-axo", "pid=,ppid=,command="], { encoding: "utf8" })
    .split("\n")
    .filter((line) => line.includes(folder) && line.includes(program) && !line.includes("tidemark-watch"))
    .map((line) => line.trim().split(/\s+/))
    .map(([pid, parent]) => ({ pid: Number(pid), parent: Number(parent) }));
}
