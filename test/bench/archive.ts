import { cpus } from "node:os";
import pg from "pg";
import { request } from "undici";
import { startStack, type Mode, type OwnStack } from "../stack/stack.ts";
import { parseBenchArguments } from "./command-line.ts";
import { withFreshPostgres, type BenchPostgres } from "./fresh-postgres.ts";
import { cpuBetween, databaseMegabytes, readCpu, residentMegabytes } from "./processes.ts";
import { seededRandom } from "./seeded-random.ts";

// Complete exports of ten million points, and their restore: points per second, CPU, and the memory of every process meanwhile.

const RUNS = 11;
const KEYS = 20;
const POINTS_PER_REQUEST = 500;
/** Of the keys, those that are logged at each tenth step only: their points share no steps with the others. */
const SPARSE_KEYS = 2;
const SPARSE = 10;
const WRITERS = 4;
const MEMORY_MS = 200;
const ROUNDS = 3;

const options = parseBenchArguments(process.argv.slice(2));
const STEPS = 50_000 * options.scale;
const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** Writes a run as the SDK does: full mantissas, and a client's time at each point. Returns how many values it has. */
async function writeRun(stack: OwnStack, key: string, runId: string, seed: number): Promise<number> {
  const random = seededRandom(seed);
  let values = 0;
  for (let from = 0; from < STEPS; from += POINTS_PER_REQUEST) {
    const points = Array.from({ length: POINTS_PER_REQUEST }, (_, i) => {
      const step = from + i;
      const keys = step % SPARSE === 0 ? KEYS : KEYS - SPARSE_KEYS;
      values += keys;
      const metrics = Object.fromEntries(
        Array.from({ length: keys }, (__, k) => [`train/metric_${k}`, random() * (k + 1)]),
      );
      return { step, metrics, timestamp: new Date(1_795_176_000_000 + step * 137).toISOString() };
    });
    const answer = await request(`${stack.baseUrl}/runs/${runId}/metrics/batch`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ points }),
    });
    if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${await answer.body.text()}`);
    await answer.body.dump();
  }
  return values;
}

/** Waits until all landing segments are in blocks. */
async function settle(owner: pg.Client): Promise<void> {
  for (;;) {
    const { rows } = await owner.query<{ waiting: string }>("SELECT count(*) AS waiting FROM ingest.metric_segments");
    if (rows[0]?.waiting === "0") return;
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

type Peaks = Map<string, number>;

/** Notes the highest memory of each process until it is stopped. */
function watchMemory(stack: OwnStack, postgres: BenchPostgres): () => Promise<Peaks> {
  const peaks: Peaks = new Map();
  let watching = true;
  const note = (name: string, megabytes: number): void =>
    void peaks.set(name, Math.max(peaks.get(name) ?? 0, megabytes));
  const done = (async () => {
    while (watching) {
      for (const [name, { pid }] of stack.children) note(name, await residentMegabytes(pid));
      note("postgres", await databaseMegabytes(postgres.pid));
      await new Promise((resolve) => setTimeout(resolve, MEMORY_MS));
    }
  })();
  return async () => {
    watching = false;
    await done;
    return peaks;
  };
}

/** Reads an export to its end without looking at it, and returns its bytes. */
async function read(stack: OwnStack, key: string, query: string, headers: Record<string, string>): Promise<number> {
  const { statusCode, body } = await request(`${stack.baseUrl}/api/export?${query}`, {
    headers: { authorization: `Bearer ${key}`, ...headers },
  });
  if (statusCode !== 200) throw new Error(`${statusCode} ${await body.text()}`);
  let bytes = 0;
  for await (const chunk of body) bytes += (chunk as Buffer).length;
  return bytes;
}

/** Brings the whole project back into another organization while it is read, and returns the bytes that were sent. */
async function restore(stack: OwnStack, key: string, query: string): Promise<number> {
  const other = await stack.organization();
  const { body } = await request(`${stack.baseUrl}/api/export?${query}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk as Buffer);
  const archive = Buffer.concat(chunks);
  restoring.started();
  const answer = await request(`${stack.baseUrl}/api/imports/archive`, {
    method: "POST",
    headers: { authorization: `Bearer ${other.key}`, "content-type": "application/x-ndjson" },
    body: archive,
    headersTimeout: 0,
  });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${text}`);
  return archive.length;
}

/** What a case does before it is measured is not part of it. */
const restoring = { started: (): void => {} };

async function bench(mode: Mode, postgres: BenchPostgres): Promise<void> {
  const url = await postgres.database(`bench_archive_${mode}`);
  const stack = await startStack(mode, { databaseUrl: url, settings: { TIDEMARK_LOG_LEVEL: "error" } });
  const owner = new pg.Client({ connectionString: url });
  await owner.connect();
  try {
    const { api, key } = await stack.organization();
    const runIds: string[] = [];
    while (runIds.length < RUNS) runIds.push((await api.post("/runs", { project: "bench" })).json.run.id as string);
    const written: number[] = [];
    const waiting = runIds.map((runId, seed) => ({ runId, seed }));
    await Promise.all(
      Array.from({ length: WRITERS }, async () => {
        for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
          written.push(await writeRun(stack, key, next.runId, next.seed));
        }
      }),
    );
    const stored = written.reduce((sum, values) => sum + values, 0);
    await settle(owner);
    say(`\n${cpus().length} x ${cpus()[0]?.model.trim() ?? "unknown CPU"}, Node ${process.version}, ${mode}.`);
    say(`${RUNS} runs of ${STEPS} points, ${stored} values, all in blocks.\n`);
    say(
      "| case | values/s | MB/s | MB | CPU s per million values: server / PostgreSQL / client | highest memory in MB |",
    );
    say("| --- | --- | --- | --- | --- | --- |");
    const cases: [string, string, Record<string, string>][] = [
      ["ndjson", "format=ndjson&project=bench", {}],
      ["ndjson, gzip", "format=ndjson&project=bench", { "accept-encoding": "gzip" }],
      ["parquet", "format=parquet&project=bench", {}],
      ["restore", "format=ndjson&project=bench", {}],
    ];
    const sides = {
      server: [...new Set([...stack.children.values()].map(({ pid }) => pid))],
      database: postgres.pid,
      clients: [],
    };
    for (let round = 0; round < ROUNDS; round++) {
      for (const [name, query, headers] of cases) {
        if (!name.includes(options.only)) continue;
        const memory = watchMemory(stack, postgres);
        let before = await readCpu(sides);
        let started = performance.now();
        let early: Promise<void> | undefined;
        restoring.started = () => {
          started = performance.now();
          early = readCpu(sides).then((cpu) => void (before = cpu));
        };
        const bytes = name === "restore" ? await restore(stack, key, query) : await read(stack, key, query, headers);
        await early;
        const seconds = (performance.now() - started) / 1000;
        const used = cpuBetween(before, await readCpu(sides));
        const per = (cpuSeconds: number): string => ((cpuSeconds * 1e6) / stored).toFixed(2);
        const peaks = [...(await memory())].map(([process, megabytes]) => `${process} ${Math.round(megabytes)}`);
        say(
          `| ${name} | ${Math.round(stored / seconds).toLocaleString("en")} | ${(bytes / 1e6 / seconds).toFixed(1)} | ${(bytes / 1e6).toFixed(0)} | ` +
            `${per(used.server)} / ${per(used.database)} / ${per(used.client)} | ${peaks.join(", ")} |`,
        );
      }
    }
  } finally {
    await owner.end();
    await stack.stop();
  }
}

await withFreshPostgres(async (postgres) => {
  for (const mode of options.modes) await bench(mode, postgres);
});
