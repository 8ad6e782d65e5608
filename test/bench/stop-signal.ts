import { cpus } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { until } from "@tidemark/testkit";
import type { Api } from "../stack/client.ts";
import { signalOf, stopOf } from "../stack/run-control.ts";
import { startStack, type Mode, type OwnStack } from "../stack/stack.ts";
import { parseBenchArguments } from "./command-line.ts";
import { cpuOfTree } from "./cpu.ts";
import { withFreshPostgres, type BenchPostgres } from "./fresh-postgres.ts";
import { runLoad } from "./load.ts";
import { measureLoads } from "./running-runs-load.ts";
import { seedRunningRuns } from "./seed/seed-running-runs.ts";

// What polling for stop requests costs with 10,000 running runs, how long a stop takes to reach the
// polls of another process, and what it takes to load 100,000 running runs.

const POLLED_RUNS = 10_000;
const STOPS = 100;
const WARM_UP_SECONDS = 2;
/** The server counts transactions in shared memory after at most this time. */
const COUNTED_AFTER_MS = 1500;

type Reading = { servers: number; database: number; client: number };

const options = parseBenchArguments(process.argv.slice(2));
const say = (text: string): void => void (options.json ? process.stderr : process.stdout).write(`${text}\n`);

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}

/** Transactions of the database until now, this question included. */
async function transactions(owner: pg.Client): Promise<number> {
  await pause(COUNTED_AFTER_MS);
  const text = "SELECT xact_commit + xact_rollback AS n FROM pg_stat_database WHERE datname = current_database()";
  return Number((await owner.query<{ n: string }>(text)).rows[0]?.n);
}

/** Transactions per second of the database while something goes on. */
async function transactionRate(owner: pg.Client, work: () => Promise<void>): Promise<number> {
  const before = await transactions(owner);
  const started = performance.now();
  await work();
  const after = await transactions(owner);
  // The second count waits once more than the first one did.
  return (after - before - 1) / ((performance.now() - started) / 1000);
}

async function readCpu(stack: OwnStack, postgresPid: number): Promise<Reading> {
  const pids = [...new Set([...stack.children.values()].map(({ pid }) => pid))];
  const servers = await Promise.all(pids.map(cpuOfTree));
  const { user, system } = process.cpuUsage();
  return {
    servers: servers.reduce<number>((sum, value) => sum + (value ?? Number.NaN), 0),
    database: (await cpuOfTree(postgresPid)) ?? Number.NaN,
    client: (user + system) / 1e6,
  };
}

async function measurePolls(stack: OwnStack, server: BenchPostgres, owner: pg.Client): Promise<void> {
  const { orgId, key, api } = await stack.organization();
  const ids = await seedRunningRuns(owner, orgId, POLLED_RUNS);
  await until("the runs to be in memory", async () => (await signalOf(api, ids.at(-1)!)).status === 200);
  const idle = await transactionRate(owner, () => pause(options.seconds * 1000));
  for (const { connections, fresh } of [
    { connections: 1, fresh: false },
    { connections: 8, fresh: false },
    { connections: 32, fresh: false },
    { connections: 8, fresh: true },
  ]) {
    const readings: Reading[] = [];
    let cells: string[] = [];
    const rate = await transactionRate(owner, async () => {
      const result = await runLoad(
        {
          baseUrl: stack.baseUrl,
          key,
          concurrency: connections,
          fresh,
          warmUp: WARM_UP_SECONDS,
          seconds: options.seconds,
          shot: (index) => ({ method: "GET", path: `/api/runs/${ids[index % ids.length]}/stop-signal` }),
        },
        async () => void readings.push(await readCpu(stack, server.pid)),
      );
      const [before, after] = readings;
      const per = (side: keyof Reading): string =>
        (((after![side] - before![side]) * 1e6) / result.requests).toFixed(0);
      cells = [
        stack.mode,
        `${connections}${fresh ? ", a new one each" : ""}`,
        (result.requests / result.seconds).toFixed(0),
        result.p50.toFixed(2),
        result.p95.toFixed(2),
        result.p99.toFixed(2),
        `${per("servers")} + ${per("database")} + ${per("client")}`,
        result.errors === 0 ? "0" : `${result.errors}: ${result.firstError}`,
      ];
    });
    say(`| ${[...cells, idle.toFixed(1), rate.toFixed(1)].join(" | ")} |`);
  }
}

function quantiles(milliseconds: readonly number[]): string {
  const sorted = milliseconds.toSorted((a, b) => a - b);
  const at = (share: number): string =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!.toFixed(0);
  return `${at(0.5)} | ${at(0.95)} | ${sorted.at(-1)?.toFixed(0)}`;
}

/** From the answer of a stop on one side until a poll on the other side tells it; and how long the stop took. */
async function delayOf(here: Api, there: Api, id: string): Promise<{ stop: number; seen: number }> {
  let seenAt: number | undefined;
  const poller = async (): Promise<void> => {
    while (seenAt === undefined) if ((await signalOf(there, id)).json.stop_requested) seenAt = performance.now();
  };
  const polling = poller();
  const started = performance.now();
  await stopOf(here, id);
  const answered = performance.now();
  await polling;
  return { stop: answered - started, seen: Math.max(0, seenAt! - answered) };
}

async function measureDelays(stack: OwnStack, owner: pg.Client): Promise<void> {
  const replica = await stack.addReplica();
  const { orgId, key, api } = await stack.organization();
  const there = replica.api.as(key);
  const measure = async (what: string): Promise<void> => {
    const ids = await seedRunningRuns(owner, orgId, STOPS);
    await until("the runs to be in memory", async () => (await signalOf(there, ids.at(-1)!)).status === 200);
    const delays = [];
    for (const id of ids) delays.push(await delayOf(api, there, id));
    say(`| ${what} | ${quantiles(delays.map(({ seen }) => seen))} | ${quantiles(delays.map(({ stop }) => stop))} |`);
  };
  say("\n| | delay ms: median | p95 | max | the stop itself ms: median | p95 | max |\n|---|---|---|---|---|---|---|");
  await measure("stop to signal, other process");
  await stack.nats?.stop();
  await measure("the same, NATS stopped");
  await stack.nats?.start();
}

async function benchMode(mode: Mode, server: BenchPostgres): Promise<void> {
  const databaseUrl = await server.database(`bench_${mode}`);
  const stack = await startStack(mode, { databaseUrl, settings: { TIDEMARK_LOG_LEVEL: "error" } });
  const owner = await connect(databaseUrl);
  try {
    say(
      "\n| mode | connections | polls/s | p50 ms | p95 ms | p99 ms | CPU µs/poll: server + PostgreSQL + client | errors | database transactions/s: idle | while polling |",
    );
    say("|---|---|---|---|---|---|---|---|---|---|");
    await measurePolls(stack, server, owner);
    if (mode === "split") await measureDelays(stack, owner);
  } finally {
    await owner.end();
    await stack.stop();
  }
}

await withFreshPostgres(async (postgres) => {
  say(
    `${cpus().length} x ${cpus()[0]?.model.trim() ?? "unknown CPU"}, Node ${process.version}, ${POLLED_RUNS} running runs.`,
  );
  // With a part of the name of a case, only cases of the load.
  if (options.only === "") for (const mode of options.modes) await benchMode(mode, postgres);
  if (options.modes.includes("split")) await measureLoads(options.only, (name) => postgres.database(name), say);
});
