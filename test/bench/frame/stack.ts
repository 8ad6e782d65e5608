import pg from "pg";
import type { Api } from "../../stack/client.ts";
import { startStack, type Mode, type OwnStack } from "../../stack/stack.ts";
import { readCpu, type CpuReading } from "./cpu.ts";
import type { BenchPostgres } from "./postgres.ts";

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
