import { execFileSync } from "node:child_process";
import { readFile, readdir, readlink, realpath } from "node:fs/promises";
import { basename } from "node:path";

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
