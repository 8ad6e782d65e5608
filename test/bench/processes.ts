import { readFile } from "node:fs/promises";
import { cpuOfTree } from "./cpu.ts";

/** CPU seconds that each side has used so far. */
export type CpuReading = { readonly server: number; readonly database: number; readonly client: number };

/** The processes of each side, with their descendants. This process is always a client. */
export type Sides = {
  readonly server: readonly number[];
  readonly database: number;
  readonly clients: readonly number[];
};

const sum = (values: readonly (number | undefined)[]): number =>
  values.reduce<number>((total, value) => total + (value ?? Number.NaN), 0);

/** NaN where the system does not tell. */
export async function readCpu({ server, database, clients }: Sides): Promise<CpuReading> {
  const { user, system } = process.cpuUsage();
  return {
    server: sum(await Promise.all(server.map(cpuOfTree))),
    database: (await cpuOfTree(database)) ?? Number.NaN,
    client: sum(await Promise.all(clients.map(cpuOfTree))) + (user + system) / 1e6,
  };
}

/** What was used between two readings. */
export function cpuBetween(before: CpuReading, after: CpuReading): CpuReading {
  return {
    server: after.server - before.server,
    database: after.database - before.database,
    client: after.client - before.client,
  };
}

/** Time of all cores until now, and of it what the host gave to other machines; zeros where the system does not tell. */
export type CoreTime = { readonly total: number; readonly stolen: number };

/** Reads the first line of /proc/stat. */
export async function readCoreTime(): Promise<CoreTime> {
  const text = await readFile("/proc/stat", "utf8").catch(() => "");
  // user, nice, system, idle, iowait, irq, softirq, steal; guests are counted within user (proc(5)).
  const ticks = (text.split("\n")[0] ?? "").split(/\s+/).slice(1, 9).map(Number);
  return { total: ticks.reduce((total, one) => total + one, 0), stolen: ticks[7] ?? 0 };
}

async function megabytes(pid: number, file: "status" | "smaps_rollup", field: "VmRSS" | "Pss"): Promise<number> {
  const text = await readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "");
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(text)?.[1]) / 1024;
}

/** Resident memory of one process in MiB; NaN where the system does not tell. */
export function residentMegabytes(pid: number): Promise<number> {
  return megabytes(pid, "status", "VmRSS");
}

/** Memory of PostgreSQL in MiB, what its processes share counted once; NaN where the system does not tell. */
export async function databaseMegabytes(postmaster: number): Promise<number> {
  const children = await readFile(`/proc/${postmaster}/task/${postmaster}/children`, "utf8").catch(() => "");
  const others = await Promise.all(
    children
      .split(" ")
      .filter(Boolean)
      .map((pid) => megabytes(Number(pid), "smaps_rollup", "Pss")),
  );
  // A connection that has ended meanwhile has none.
  return sum([await megabytes(postmaster, "smaps_rollup", "Pss"), ...others.filter((share) => !Number.isNaN(share))]);
}
