import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { requirePython } from "@tidemark/testkit";
import pg from "pg";
import type { LoopResult } from "../closed-loop.ts";
import { percentilesOf } from "../percentiles.ts";
import { startLineProcess } from "./line-process.ts";
import type { MetricStore, Timing } from "./metric-store.ts";
import { startMlflow } from "./mlflow-server.ts";
import { distinctWrites, keyNames, type WriteLoad } from "./write-load.ts";

/** The most that its `log_batch` takes in one request. */
const VALUES_PER_REQUEST = 1000;
const WARM_UP_SECONDS = 5;
const SIZES = `SELECT sum(pg_total_relation_size(c.oid))::float8 AS bytes FROM pg_class c
  WHERE c.oid IN ('metrics'::regclass, 'latest_metrics'::regclass)`;

type Answer = Omit<LoopResult, "requests" | "p50" | "p95" | "p99" | "firstError"> & {
  readonly latencies: readonly number[];
  readonly firstError: string | null;
};

const resultOf = ({ latencies, firstError, sent, seconds, errors }: Answer): LoopResult => ({
  ...percentilesOf(latencies),
  requests: latencies.length,
  sent,
  seconds,
  errors,
  firstError: firstError ?? undefined,
});

/**
 * The real MLflow tracking server, driven by its own client. Undefined where Python or its packages are not available, which is said
 * loudly.
 */
export async function mlflowStore(
  databaseUrl: string,
  directory: string,
  tape: Float64Array,
): Promise<MetricStore | undefined> {
  const python = await requirePython({
    requirements: join(import.meta.dirname, "mlflow-requirements.txt"),
    leftOut: "the comparison with MLflow's tracking server",
  });
  if (python === undefined) return undefined;
  const server = await startMlflow({ ...python, databaseUrl, directory });
  const tapeFile = join(directory, "tape");
  await writeFile(tapeFile, new Uint8Array(tape.buffer));
  const { PATH = "" } = process.env;
  const script = join(import.meta.dirname, "mlflow_driver.py");
  const driver = startLineProcess(python.python, ["-I", script, server.uri, tapeFile], { PATH, HOME: directory });
  const owner = new pg.Client({ connectionString: databaseUrl });
  await owner.connect();
  const newRuns = async (count: number): Promise<string[]> =>
    (await driver.ask<{ runs: string[] }>({ do: "runs", count })).runs;
  const write = async (load: WriteLoad, runs: readonly string[], timing: Timing): Promise<LoopResult> => {
    const { points, concurrency } = load;
    const shape = { runs, points, concurrency, keys: keyNames(load.keys), distinct: distinctWrites(load) };
    const time = { warm_up: timing.warmUp, seconds: timing.seconds };
    return resultOf(await driver.ask<Answer>({ do: "write", ...shape, ...time }));
  };
  // Each of its processes loads a part of itself with its first requests.
  const first: WriteLoad = { runs: 4, points: 1, keys: 6, concurrency: 8 };
  await write(first, await newRuns(first.runs), { warmUp: 0, seconds: WARM_UP_SECONDS });
  return {
    name: "MLflow 3.17.2, its own client",
    servers: [server.pid],
    clients: [driver.pid],
    takes: ({ points, keys }) => points * keys <= VALUES_PER_REQUEST,
    async prepare(load) {
      const runs = await newRuns(load.runs);
      return (timing) => write(load, runs, timing);
    },
    settle: () => Promise.resolve(),
    async fill({ runs, keys, series }) {
      const values = join(directory, "values");
      const length = series[0]?.length ?? 0;
      const all = new Float64Array(keys.length * length);
      for (const [key, one] of series.entries()) all.set(one, key * length);
      await writeFile(values, new Uint8Array(all.buffer));
      const answer = await driver.ask<{ runs: string[] }>({ do: "fill", count: runs, keys, length, values });
      await owner.query("VACUUM ANALYZE metrics");
      return answer.runs;
    },
    // Its client reads a history whole and no other way.
    async read({ run, key, points }, timing) {
      const time = { warm_up: timing.warmUp, seconds: timing.seconds };
      return resultOf(await driver.ask<Answer>({ do: "read", run, key, points, concurrency: 1, ...time }));
    },
    async bytes() {
      await owner.query("VACUUM");
      await owner.query("CHECKPOINT");
      return Number((await owner.query<{ bytes: number }>(SIZES)).rows[0]?.bytes);
    },
    async close() {
      await driver.close();
      await owner.end();
      await server.stop();
    },
  };
}
