import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "@tidemark/local";
import { startStack, type Mode, type OwnStack } from "../stack/stack.ts";
import { batchCases, readCases, singleStepCases, type Case } from "./cases.ts";
import { measureCeilings } from "./ceilings.ts";
import { parseBenchArguments } from "./command-line.ts";
import { cpuOfTree } from "./cpu.ts";
import { runLoad } from "./load.ts";
import { bodiesNote, seriesBody } from "./metrics/metric-bodies.ts";
import { describeMachine, describeRow, describeTimes, tableHead, type CpuPerRequest, type Row } from "./report.ts";

const RUNS = 32;
const WARM_UP_SECONDS = 2;
const READ_STEPS = 5000;

type Reading = { server: number; database: number; client: number };

async function readCpu(stack: OwnStack, postgresPid: number): Promise<Reading | undefined> {
  const database = await cpuOfTree(postgresPid);
  if (database === undefined) return undefined;
  const pids = [...new Set([...stack.children.values()].map(({ pid }) => pid))];
  const servers = await Promise.all(pids.map(cpuOfTree));
  const { user, system } = process.cpuUsage();
  return {
    server: servers.reduce<number>((sum, value) => sum + (value ?? 0), 0),
    database,
    client: (user + system) / 1e6,
  };
}

async function measure(
  stack: OwnStack,
  postgresPid: number,
  key: string,
  testCase: Case,
  seconds: number,
): Promise<Row> {
  const readings: (Reading | undefined)[] = [];
  const result = await runLoad(
    {
      baseUrl: stack.baseUrl,
      key,
      concurrency: testCase.concurrency,
      fresh: testCase.fresh === true,
      warmUp: WARM_UP_SECONDS,
      seconds,
      shot: testCase.shot,
    },
    async () => void readings.push(await readCpu(stack, postgresPid)),
  );
  const [before, after] = readings;
  const per = (side: keyof Reading): number => (((after?.[side] ?? 0) - (before?.[side] ?? 0)) * 1e6) / result.requests;
  const cpu: CpuPerRequest | undefined =
    before === undefined || after === undefined
      ? undefined
      : { server: per("server"), database: per("database"), client: per("client") };
  return { ...testCase, mode: stack.mode, result, cpu };
}

async function prepare(stack: OwnStack) {
  const { api, key } = await stack.organization();
  const runIds: string[] = [];
  for (let index = 0; index < RUNS; index += 1) {
    const made = await api.post("/runs", { project: "bench", config: { lr: 0.001, seed: index } });
    runIds.push(made.json.run.id as string);
  }
  const read = await api.post("/runs", { project: "bench-read" });
  const readRun = read.json.run.id as string;
  const loss = Float64Array.from({ length: READ_STEPS }, (_, step) => 1 / (step + 1));
  const accuracy = Float64Array.from({ length: READ_STEPS }, (_, step) => step / READ_STEPS);
  for (let first = 0; first < READ_STEPS; first += 500) {
    const rawBody = seriesBody(["accuracy", "loss"], [accuracy, loss], first, first + 500);
    await api.call("POST", `/runs/${readRun}/metrics/batch`, { rawBody });
  }
  return { key, runIds, readRun };
}

async function benchMode(
  mode: Mode,
  server: { url: string; pid: number },
  seconds: number,
  only: string,
  each: (row: Row) => void,
) {
  const database = await makeDatabase(server.url, `bench_${mode}`);
  const stack = await startStack(mode, { databaseUrl: database, settings: { TIDEMARK_LOG_LEVEL: "error" } });
  try {
    const { key, runIds, readRun } = await prepare(stack);
    const cases = [...singleStepCases(runIds), ...batchCases(runIds), ...readCases(readRun)];
    for (const testCase of cases.filter(({ name }) => name.includes(only))) {
      each(await measure(stack, server.pid, key, testCase, seconds));
    }
  } finally {
    await stack.stop();
  }
}

async function makeDatabase(serverUrl: string, name: string): Promise<string> {
  const { default: pg } = await import("pg");
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

const options = parseBenchArguments(process.argv.slice(2));
if (options.what !== "all") {
  await import(`./${options.what}.ts`);
} else {
  const directory = await mkdtemp(join(tmpdir(), "tidemark-bench-"));
  // As in production: every acknowledged write is on the disk.
  const postgres = await startPostgres({ dataDir: join(directory, "postgres"), log: () => {} });
  try {
    const say = (text: string): void => void (options.json ? process.stderr : process.stdout).write(`${text}\n`);
    const ceilings = await measureCeilings(postgres.url, directory);
    say(`${describeMachine(ceilings)}\n${bodiesNote}\n\n${tableHead}`);
    const rows: Row[] = [];
    for (const mode of options.modes) {
      await benchMode(mode, postgres, options.seconds, options.only, (row) => {
        rows.push(row);
        say(describeRow(row, ceilings));
      });
    }
    for (const line of describeTimes(rows)) say(line);
    if (options.json) process.stdout.write(`${JSON.stringify({ ceilings, rows }, null, 2)}\n`);
  } finally {
    await postgres.stop();
    await rm(directory, { recursive: true, force: true });
  }
}
