import { readdir, readFile } from "node:fs/promises";

// Fields of /proc/<pid>/stat counted after the command name, which may hold spaces (proc(5)).
const PPID = 1;
const UTIME = 11;
const CSTIME = 14;
const TICKS_PER_SECOND = 100;

async function statFields(pid: number): Promise<number[] | undefined> {
  try {
    const text = await readFile(`/proc/${pid}/stat`, "utf8");
    return text
      .slice(text.lastIndexOf(")") + 2)
      .split(" ")
      .map(Number);
  } catch {
    return undefined;
  }
}

/**
 * CPU seconds that a process, its living descendants and its reaped children have used, user and
 * system together. Undefined where there is no /proc (macOS).
 */
export async function cpuOfTree(root: number): Promise<number | undefined> {
  if ((await statFields(root)) === undefined) return undefined;
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const all = new Map<number, number[]>();
  await Promise.all(
    pids.map(async (pid) => {
      const fields = await statFields(pid);
      if (fields !== undefined) all.set(pid, fields);
    }),
  );
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
