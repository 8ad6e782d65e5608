import pg from "pg";
import type { Api } from "../../stack/client.ts";
import { startStack, type Mode, type OwnStack } from "../../stack/stack.ts";
import { mkdtemp, rm, readdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "@tidemark/local";

/** The product over its own database, with one organization. */
export type BenchStack = {
  readonly stack: OwnStack;
  /** The owner of the database. */
  readonly owner: pg.Client;
  readonly orgId: string;
  readonly key: string;
  readonly api: Api;
  /** Creates runs of the organization and returns their ids. */
  newRuns(count: number): Promise<string[]>;
  readCpu(): Promise<CpuReading>;
  stop(): Promise<void>;
};

/** Landing segments are compacted after this many seconds instead of the usual minute, so that a bench does not wait for it. */
const COMPACT_AFTER_SECONDS = 2;

/** Starts the product on a new database of this name. */
export async function openBenchStack(
  postgres: BenchPostgres,
  mode: Mode,
  name: string,
  settings: Record<string, string> = {},
): Promise<BenchStack> {
  const databaseUrl = await postgres.database(name);
  const stack = await startStack(mode, {
    databaseUrl,
    settings: {
      TIDEMARK_LOG_LEVEL: "error",
      TIDEMARK_INGEST_COMPACT_AFTER_SECONDS: String(COMPACT_AFTER_SECONDS),
      ...settings,
    },
  });
  const owner = new pg.Client({ connectionString: databaseUrl });
  // A connection that breaks fails the next statement; it must not hide what went wrong before.
  owner.on("error", () => {});
  const pids = [...new Set([...stack.children.values()].map(({ pid }) => pid))];
  try {
    await owner.connect();
    // A benchmark may hold a transaction for long.
    await owner.query("SET idle_in_transaction_session_timeout = 0");
    const { orgId, key, api } = await stack.organization();
    return {
      stack,
      owner,
      orgId,
      key,
      api,
      async newRuns(count) {
        const ids: string[] = [];
        while (ids.length < count) {
          const made = await api.post("/runs", { project: "bench", config: { lr: 0.001, seed: ids.length } });
          if (made.status !== 200) throw new Error(`no run: ${made.status} ${made.text}`);
          ids.push(made.json.run.id as string);
        }
        return ids;
      },
      readCpu: () => readCpu(pids, postgres.pid),
      async stop() {
        await owner.end();
        await stack.stop();
      },
    };
  } catch (error) {
    await owner.end().catch(() => {});
    await stack.stop();
    throw error;
  }
}

/** A PostgreSQL that a benchmark has for itself. */
export type BenchPostgres = {
  readonly pid: number;
  /** Makes an empty database and returns its URL for the superuser. */
  database(name: string): Promise<string>;
};

/** Starts a PostgreSQL as in production (every acknowledged write is on the disk), and deletes it after `use`. */
export async function withFreshPostgres(use: (postgres: BenchPostgres) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "tidemark-bench-"));
  const postgres = await startPostgres({ dataDir: join(directory, "postgres"), log: () => {} });
  const database = async (name: string): Promise<string> => {
    const client = new pg.Client({ connectionString: postgres.url });
    await client.connect();
    try {
      await client.query(`CREATE DATABASE ${name}`);
    } finally {
      await client.end();
    }
    const url = new URL(postgres.url);
    url.pathname = `/${name}`;
    return url.href;
  };
  try {
    await use({ pid: postgres.pid, database });
  } finally {
    await postgres.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

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
async function readCpu(servers: readonly number[], database: number): Promise<CpuReading> {
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
