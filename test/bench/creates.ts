import { hash as digestOf, randomUUID } from "node:crypto";
import { openBenchStack, type BenchStack } from "./bench-stack.ts";
import { parseBenchArguments } from "./command-line.ts";
import { withFreshPostgres, type BenchPostgres } from "./fresh-postgres.ts";
import { runLoad, type Shot } from "./load.ts";
import { shown, tableHead, tableRow } from "./markdown-table.ts";
import { cpuBetween, type CpuReading } from "./processes.ts";

// Creates of runs with what training programs send: how many there are a second, and what each costs. Afterwards numbers and counters of every
// project are compared with its runs.

const WARM_UP_SECONDS = 2;

type Case = {
  readonly name: string;
  readonly connections: number;
  readonly projects: number;
  /** Whether the client chooses the id, by which a repeat is recognized. */
  readonly withId?: boolean;
  /** A new connection for each request. */
  readonly fresh?: boolean;
};

const cases: readonly Case[] = [
  { name: "one project, 1 connection", connections: 1, projects: 1 },
  { name: "one project, 8 connections", connections: 8, projects: 1 },
  { name: "one project, 32 connections", connections: 32, projects: 1 },
  { name: "one project, 8 connections, with id", connections: 8, projects: 1, withId: true },
  { name: "one project, 8 connections, a new one each", connections: 8, projects: 1, fresh: true },
  { name: "100 projects, 1 connection", connections: 1, projects: 100 },
  { name: "100 projects, 8 connections", connections: 8, projects: 100 },
  { name: "100 projects, 32 connections", connections: 32, projects: 100 },
];

/** What a training script sends by `init(project=…, config=…, tags=…)`: its hyperparameters, and what the SDK tells of the program. */
function bodyOf(project: string, index: number, id: string | undefined): string {
  const digest = digestOf("sha256", `run ${index}`);
  const hash = Number.parseInt(digest.slice(0, 8), 16);
  return JSON.stringify({
    ...(id === undefined ? {} : { id, mode: "create" }),
    project,
    name: null,
    config: {
      lr: [0.1, 0.01, 0.001, 0.0003][hash % 4],
      batch_size: 2 ** (4 + (hash % 6)),
      epochs: 1 + (hash % 90),
      seed: hash % 100_000,
      optimizer: ["adamw", "sgd", "lion"][hash % 3],
      weight_decay: 0.01,
      warmup_steps: hash % 5000,
      scheduler: "cosine",
      model: { family: "transformer", depth: 6 + (hash % 42), heads: 8, hidden: 1024, dropout: 0.1 },
      data: { dataset: "imagenet-1k", workers: 8, augment: hash % 2 === 0 },
    },
    tags: ["baseline", `team-${hash % 40}`],
    metadata: {
      python: "3.11.9",
      platform: "Linux-6.8.0-45-generic-x86_64-with-glibc2.39",
      hostname: `gpu-node-${hash % 200}`,
      pid: 1000 + (hash % 60_000),
      _rlobs: {
        source: {
          capture: { git: true, diff: true, entrypoint: true, argv: true, cwd: true, packages: false },
          git: {
            available: true,
            commit: digest.slice(0, 40),
            dirty: true,
            root: "/home/research/projects/image-models",
            branch: "main",
            diff: {
              stat: " train.py | 12 +++++++-----\n 1 file changed, 7 insertions(+), 5 deletions(-)",
              cached_stat: "",
              patch_sha256: digest,
            },
          },
          entrypoint: "/home/research/projects/image-models/train.py",
          argv: ["train.py", "--config", "configs/base.yaml"],
          cwd: "/home/research/projects/image-models",
        },
      },
    },
  });
}

type Measured = Case & {
  readonly rate: number;
  readonly p50: number;
  readonly p95: number;
  readonly cpu: CpuReading;
  readonly errors: number;
  readonly sent: number;
};

async function measure(bench: BenchStack, one: Case, turn: number): Promise<Measured> {
  const shot = (index: number): Shot => ({
    method: "POST",
    path: "/runs",
    body: bodyOf(`bench-${turn}-${index % one.projects}`, index, one.withId === true ? randomUUID() : undefined),
  });
  const readings: CpuReading[] = [];
  const { key, stack } = bench;
  const { connections: concurrency, fresh = false } = one;
  const result = await runLoad(
    { baseUrl: stack.baseUrl, key, concurrency, fresh, warmUp: WARM_UP_SECONDS, seconds: options.seconds, shot },
    async () => void readings.push(await bench.readCpu()),
  );
  const { requests, seconds, p50, p95, errors, firstError, sent } = result;
  if (firstError !== undefined) say(firstError);
  const used = cpuBetween(readings[0]!, readings[1]!);
  const per = (total: number): number => (total * 1e6) / requests;
  const cpu = { server: per(used.server), database: per(used.database), client: per(used.client) };
  return { ...one, rate: requests / seconds, p50, p95, cpu, errors, sent };
}

/** @throws Error when a counter is not the number of a project's runs, or the numbers in the runs' names have a gap or a repeat */
async function requireExact({ owner }: BenchStack): Promise<number> {
  const { rows } = await owner.query<{ projects: string; runs: string; wrong: string }>(
    `SELECT count(*) AS projects, sum(runs) AS runs,
            count(*) FILTER (WHERE counted <> runs OR numbers <> runs OR lowest <> 1 OR highest <> runs OR unordered > 0) AS wrong
     FROM (
       SELECT p.runs_running AS counted, count(*) AS runs, count(DISTINCT r.number) AS numbers, min(r.number) AS lowest,
              max(r.number) AS highest, count(*) FILTER (WHERE r.created_at < r.earlier) AS unordered
       FROM runs.projects p
       JOIN (SELECT *, lag(created_at) OVER (PARTITION BY project_id ORDER BY number) AS earlier
             FROM (SELECT project_id, created_at, substring(name FROM '-(\\d+)$')::bigint AS number FROM runs.runs) named) r
         ON r.project_id = p.id
       GROUP BY p.id, p.runs_running
     ) counted`,
  );
  const { projects, runs, wrong } = rows[0]!;
  if (wrong !== "0") throw new Error(`numbers or counters of ${wrong} of ${projects} projects are wrong`);
  return Number(runs);
}

const head = tableHead([
  "case",
  "creates/s",
  "p50 ms",
  "p95 ms",
  "CPU µs/create: server + PostgreSQL + client",
  "errors",
]);

function lineOf({ name, rate, p50, p95, cpu, errors }: Measured): string {
  const cpuText = [cpu.server, cpu.database, cpu.client].map((value) => shown(value)).join(" + ");
  return tableRow([name, shown(rate), shown(p50, 1), shown(p95, 1), cpuText, errors]);
}

async function bench(mode: "embedded" | "split", postgres: BenchPostgres): Promise<object> {
  const stack = await openBenchStack(postgres, mode, `bench_creates_${mode}`);
  const rows: Measured[] = [];
  try {
    say(`\n${mode}, 1 organization, bodies of ${shown(bodyOf("bench-0-0", 1, undefined).length)} bytes.\n\n${head}`);
    for (const [turn, one] of cases.entries()) {
      if (!one.name.includes(options.only)) continue;
      const row = await measure(stack, one, turn);
      rows.push(row);
      say(lineOf(row));
    }
    const runs = await requireExact(stack);
    const sent = rows.reduce((sum, row) => sum + row.sent, 0);
    if (runs !== sent) throw new Error(`${runs} runs are stored, ${sent} were acknowledged`);
    say(`\nNumbers and counters of all ${shown(runs)} runs are exact.`);
    return { mode, rows, runs };
  } finally {
    await stack.stop();
  }
}

const options = parseBenchArguments(process.argv.slice(2));
const say = (text: string): void => void (options.json ? process.stderr : process.stdout).write(`${text}\n`);
await withFreshPostgres(async (postgres) => {
  for (const mode of options.modes) {
    const found = await bench(mode, postgres);
    if (options.json) process.stdout.write(`${JSON.stringify(found, null, 2)}\n`);
  }
});
