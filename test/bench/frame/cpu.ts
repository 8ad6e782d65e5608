import { readdir, readFile } from "node:fs/promises";

/** CPU seconds that each side has used so far; NaN where there is no /proc (macOS). */
export type CpuReading = { readonly server: number; readonly database: number; readonly client: number };

// Fields of /proc/<pid>/stat counted after the command name, which may hold spaces (proc(5)).
const PPID = 1;
const UTIME = 11;
const CSTIME = 14;
const TICKS_PER_SECOND = 100;

async function statFields(pid: number): Promise<number[] | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  return text
    ?.slice(text.lastIndexOf(")") + 2)
    .split(" ")
    .map(Number);
}

/** Returns the fields of all processes by their ids. */
async function readProcesses(): Promise<Map<number, number[]>> {
  const names = await readdir("/proc").catch(() => []);
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
  const all = new Map<number, number[]>();
  await Promise.all(
    pids.map(async (pid) => {
      const fields = await statFields(pid);
      if (fields !== undefined) all.set(pid, fields);
    }),
  );
  return all;
}

/** User and system time of a process, its living descendants and its reaped children. */
function secondsOfTree(all: ReadonlyMap<number, number[]>, root: number): number {
  if (!all.has(root)) return Number.NaN;
  const belongs = (pid: number): boolean => {
    for (let at: number | undefined = pid; at !== undefined && at > 1; at = all.get(at)?.[PPID]) {
      if (at === root) return true;
    }
    return false;
  };
  let ticks = 0;
  for (const [pid, fields] of all) {
    if (!belongs(pid)) continue;
    for (let field = UTIME; field <= CSTIME; field += 1) ticks += fields[field] ?? 0;
  }
  return ticks / TICKS_PER_SECOND;
}

/** Reads the CPU time of the product's processes, of PostgreSQL and of this process, which is the client. */
export async function readCpu(servers: readonly number[], database: number): Promise<CpuReading> {
  const all = await readProcesses();
  const { user, system } = process.cpuUsage();
  return {
    server: servers.reduce((sum, pid) => sum + secondsOfTree(all, pid), 0),
    database: secondsOfTree(all, database),
    client: (user + system) / 1e6,
  };
}

/** Returns the CPU time used between two readings, times `factor`. */
export function cpuBetween(before: CpuReading, after: CpuReading, factor = 1): CpuReading {
  const of = (side: keyof CpuReading): number => (after[side] - before[side]) * factor;
  return { server: of("server"), database: of("database"), client: of("client") };
}
