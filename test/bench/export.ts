import { randomUUID } from "node:crypto";
import { request } from "undici";
import { watchMemory, type MemoryPeak } from "./artifacts/watch-memory.ts";
import { openBenchStack, type BenchStack } from "./bench-stack.ts";
import { parseBenchArguments } from "./command-line.ts";
import { withFreshPostgres, type BenchPostgres } from "./fresh-postgres.ts";
import { shown, tableHead, tableRow } from "./markdown-table.ts";
import { cpuBetween } from "./processes.ts";

// Exports of runs at their bounds: rows a second, CPU, and the memory of each process.

const RUNS = 500;
const KEYS = 50;
const POINTS_OF_KEY = 4;
const ATTRIBUTES_OF_RUN = 50;
const TABLES = 25;
const TABLE_ROWS = 1000;
const ROUNDS = 5;

type Made = { readonly full: readonly string[]; readonly long: string };

async function post(bench: BenchStack, path: string, body: object): Promise<void> {
  const made = await bench.api.post(path, body);
  if (made.status !== 200) throw new Error(`${made.status}: ${made.text}`);
}

/** 500 runs that reach each bound together: 100,000 points of 25,000 series, 25,000 attributes, 10,000 artifacts, 25,000 rows; and one run of 100,000 points. */
async function prepare(bench: BenchStack): Promise<Made> {
  const full = await bench.newRuns(RUNS);
  for (const [n, runId] of full.entries()) {
    const points = Array.from({ length: POINTS_OF_KEY }, (_, step) => ({
      step,
      metrics: Object.fromEntries(
        Array.from({ length: KEYS }, (_unused, k) => [`eval/metric_${k}`, Math.sin(n + k * step)]),
      ),
    }));
    await post(bench, `/runs/${runId}/metrics/batch`, { points });
    const tables = n < TABLES ? 1 : 0;
    const attributes = Array.from({ length: ATTRIBUTES_OF_RUN - tables }, (_, i) => ({
      path: `config/parameter_${i}`,
      type: "config",
      value: i % 3 === 0 ? `a value of parameter ${i}` : Math.cos(n * i),
    }));
    await post(bench, `/api/runs/${runId}/attributes`, { attributes });
    if (tables === 0) continue;
    const rows = Array.from({ length: TABLE_ROWS }, (_, i) => ({
      i,
      prompt: `sample ${i}`,
      score: Math.sin(i),
      ok: true,
    }));
    await post(bench, `/api/runs/${runId}/objects`, { key: "eval/samples", kind: "table", step: n, rows });
  }
  await bench.owner.query(
    `WITH made AS (
       INSERT INTO artifacts.artifacts (org_id, id, run_id, project_id, type, name, uri, mime_type, storage_backend, metadata)
       SELECT r.org_id, gen_random_uuid(), r.id, r.project_id, 'checkpoint', 'step-' || n, 's3://bucket/' || n, 'application/octet-stream',
              'external', '{"epoch":' || n || '}'
       FROM runs.runs r, generate_series(1, 20) n WHERE r.org_id = $1)
     INSERT INTO artifacts.run_counts (org_id, run_id, checkpoints) SELECT org_id, id, 20 FROM runs.runs WHERE org_id = $1`,
    [bench.orgId],
  );
  const [long] = await bench.newRuns(1);
  for (let from = 0; from < 100_000; from += 500) {
    const points = Array.from({ length: 500 }, (_, i) => ({ step: from + i, metrics: { loss: Math.sin(from + i) } }));
    await post(bench, `/runs/${long}/metrics/batch`, { points });
  }
  return { full, long: long! };
}

type Case = { readonly name: string; readonly path: string; readonly rows: number };

const ALL_ROWS = RUNS + 100_000 + 25_000 + 25_000 + 10_000 + 25_000;

/** What is exported, and how many rows it has. */
function casesOf({ full, long }: Made): Case[] {
  const some = full.slice(0, 100).join(",");
  const ofSome = 100 * (1 + KEYS * POINTS_OF_KEY + KEYS + ATTRIBUTES_OF_RUN + 20) + TABLES * TABLE_ROWS;
  return [
    { name: "JSON at all bounds", path: "/api/export?sort_by=name", rows: ALL_ROWS },
    { name: "JSON, one run of 100,000 points", path: `/api/export?run_ids=${long}`, rows: 100_002 },
    { name: "JSON, 100 runs", path: `/api/export?run_ids=${some}`, rows: ofSome },
    { name: "CSV, 20 runs", path: `/api/export?format=csv&run_ids=${full.slice(-20).join(",")}`, rows: 20 * 321 },
    { name: "CSV, refused at 25 MiB", path: `/api/export?format=csv&run_ids=${long}`, rows: 0 },
    { name: "HEAD of JSON at all bounds", path: "/api/export?sort_by=name", rows: 0 },
  ];
}

/** Reads an answer to its end, without keeping it; at most so many bytes a second. */
async function read(bench: BenchStack, { name, path }: Case, bytesPerSecond = Infinity) {
  const began = performance.now();
  const answer = await request(`${bench.stack.baseUrl}${path}`, {
    method: name.startsWith("HEAD") ? "HEAD" : "GET",
    headers: { authorization: `Bearer ${bench.key}`, "x-request-id": randomUUID() },
  });
  let firstMs = 0;
  let bytes = 0;
  for await (const chunk of answer.body) {
    firstMs ||= performance.now() - began;
    bytes += (chunk as Buffer).length;
    const early = (bytes / bytesPerSecond) * 1000 - (performance.now() - began);
    if (early > 10) await new Promise((resolve) => setTimeout(resolve, early));
  }
  const wanted = name.includes("refused") ? 400 : 200;
  if (answer.statusCode !== wanted) throw new Error(`${name}: ${answer.statusCode}`);
  return { ms: performance.now() - began, firstMs, bytes };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

async function measure(bench: BenchStack, one: Case): Promise<string> {
  await read(bench, one);
  const before = await bench.readCpu();
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) rounds.push(await read(bench, one));
  const used = cpuBetween(before, await bench.readCpu());
  const ms = median(rounds.map((round) => round.ms));
  const rate = one.rows === 0 ? "" : shown(one.rows / (ms / 1000));
  const cpu = [used.server, used.database].map((seconds) => shown((seconds * 1000) / ROUNDS, 0)).join(" + ");
  const first = median(rounds.map(({ firstMs }) => firstMs));
  return tableRow([one.name, shown(one.rows), shown(rounds[0]!.bytes), shown(ms, 0), shown(first, 0), rate, cpu]);
}

/** Memory while four clients take exports at all bounds, one of them slowly. */
async function watch(bench: BenchStack, one: Case): Promise<ReadonlyMap<string, MemoryPeak>> {
  const processes = new Map([...bench.stack.children].map(([name, { pid }]) => [name, pid]));
  const watching = await watchMemory({ processes, metrics: new Map() });
  const slow = read(bench, one, 8_000_000);
  for (let round = 0; round < ROUNDS; round++) await Promise.all([1, 2, 3].map(() => read(bench, one)));
  await slow;
  return watching.stop();
}

async function bench(mode: "embedded" | "split", postgres: BenchPostgres): Promise<void> {
  const stack = await openBenchStack(postgres, mode, `bench_export_${mode}`);
  try {
    const cases = casesOf(await prepare(stack)).filter(({ name }) => name.includes(options.only));
    say(`\n${mode}, medians of ${ROUNDS}.\n`);
    say(tableHead(["case", "rows", "bytes", "ms", "first byte ms", "rows/s", "CPU ms: server + PostgreSQL"]));
    for (const one of cases) say(await measure(stack, one));
    if (cases.length === 0 || cases[0]!.rows !== ALL_ROWS) return;
    say(`\nMemory in MiB, ${3 * ROUNDS} exports at all bounds by three clients, and one more at 8 MB/s.\n`);
    say(tableHead(["process", "before", "peak", "more"]));
    for (const [name, { before, peak }] of await watch(stack, cases[0]!)) {
      say(tableRow([name, shown(before), shown(peak), shown(peak - before)]));
    }
  } finally {
    await stack.stop();
  }
}

const options = parseBenchArguments(process.argv.slice(2));
const say = (text: string): void => void process.stdout.write(`${text}\n`);
await withFreshPostgres(async (postgres) => {
  for (const mode of options.modes) await bench(mode, postgres);
});
