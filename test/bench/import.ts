import { openBenchStack, type BenchStack } from "./bench-stack.ts";
import { parseBenchArguments } from "./command-line.ts";
import { withFreshPostgres, type BenchPostgres } from "./fresh-postgres.ts";
import { shown, tableHead, tableRow } from "./markdown-table.ts";
import { cpuBetween, databaseMegabytes, residentMegabytes } from "./processes.ts";

// A job of one million points, as `instantml import` sends it: chunks of 25,000 points with their names spelled out, one after another, then a commit.

const POINTS_OF_CHUNK = 25_000;
const KEYS = 5;
const MEMORY_MS = 200;
const MILLION = 1_000_000;

type Shape = { readonly name: string; readonly runs: number };
const SHAPES: readonly Shape[] = [
  { name: "1 run", runs: 1 },
  { name: "100 runs", runs: 100 },
];

/** As Python's `json.dumps` writes it. */
function chunkBody(job: number, shape: Shape, sequence: number, chunks: number): string {
  const perRun = (chunks * POINTS_OF_CHUNK) / shape.runs;
  const points: string[] = [];
  const runs: string[] = [];
  for (let i = sequence * POINTS_OF_CHUNK; i < (sequence + 1) * POINTS_OF_CHUNK; i++) {
    const run = Math.floor(i / perRun);
    const step = Math.floor((i % perRun) / KEYS);
    if (i % perRun === 0) runs.push(`{"source_run_id": "run-${run}", "name": "run ${run}", "status": "finished"}`);
    const value = 1 / (step + 1 + (i % KEYS));
    points.push(
      `{"source_run_id": "run-${run}", "key": "train/metric_${i % KEYS}", "step": ${step}, "value": ${value}, "timestamp": ${1_700_000_000 + step}.5}`,
    );
  }
  const head = `"schema_version": 2, "source_type": "wandb", "source_project": "team/old", "target_project": "${shape.name}", "job_id": ${job}`;
  const place = `"chunk_id": "chunk-${sequence}", "sequence": ${sequence}, "final": ${sequence === chunks - 1}, "content_hash": ""`;
  const rest = `"attributes": [], "artifact_refs": [], "warnings": []`;
  return `{${head}, ${place}, "runs": [${runs.join(", ")}], "metric_points": [${points.join(", ")}], ${rest}}`;
}

/** Watches the memory of the product and of PostgreSQL. */
function watchMemory({ pids, postgres }: BenchStack) {
  const most = { server: 0, database: 0 };
  const timer = setInterval(() => {
    void Promise.all([...pids.map(residentMegabytes), databaseMegabytes(postgres.pid)]).then((all) => {
      most.database = Math.max(most.database, all.pop()!);
      most.server = Math.max(
        most.server,
        all.reduce((sum, one) => sum + one, 0),
      );
    });
  }, MEMORY_MS);
  return { most, stop: () => clearInterval(timer) };
}

async function measure(bench: BenchStack, shape: Shape, points: number): Promise<void> {
  const { api } = bench;
  const chunks = points / POINTS_OF_CHUNK;
  const wish = { source_type: "wandb", source_project: "team/old", target_project: shape.name };
  const { id } = (await api.post("/api/imports/jobs", wish)).json.job;
  const memory = watchMemory(bench);
  const phase = async (name: string, work: () => Promise<void>): Promise<void> => {
    const [before, begun] = [await bench.readCpu(), performance.now()];
    await work();
    const seconds = (performance.now() - begun) / 1000;
    const { server, database } = cpuBetween(before, await bench.readCpu());
    const cpu = [server, database].map((used) => shown((used * 1e6) / points, 2)).join(" + ");
    const most = `${shown(memory.most.server)} + ${shown(memory.most.database)}`;
    say(tableRow([shape.name, name, shown(points / seconds), shown(seconds, 1), cpu, most]));
  };
  let busy = 0;
  await phase("chunks", async () => {
    for (let sequence = 0; sequence < chunks; sequence++) {
      const rawBody = chunkBody(id, shape, sequence, chunks);
      const begun = performance.now();
      const answer = await api.call("POST", `/api/imports/jobs/${id}/chunks`, {
        rawBody,
        headers: { "content-type": "application/json" },
      });
      busy += performance.now() - begun;
      if (answer.status !== 200) throw new Error(`no chunk: ${answer.status} ${answer.text.slice(0, 300)}`);
    }
  });
  say(`\nOf that ${shown(busy / 1000, 1)} s waiting for answers, ${shown(busy / chunks)} ms a chunk.\n`);
  await phase("commit", async () => {
    for (let status = ""; status !== "committed";) {
      const headers = { prefer: "respond-async" };
      const answer = await api.post(`/api/imports/jobs/${id}/commit`, {}, { headers });
      if (answer.status !== 200 && answer.status !== 409) throw new Error(`no commit: ${answer.status} ${answer.text}`);
      status = (await api.get(`/api/imports/jobs/${id}`)).json.job.status;
    }
  });
  memory.stop();
  const { summary } = (await api.get(`/api/imports/jobs/${id}`)).json.job;
  if (summary.metrics !== points) throw new Error(`${summary.metrics} of ${points} points were stored`);
}

async function bench(mode: "embedded" | "split", postgres: BenchPostgres): Promise<void> {
  const stack = await openBenchStack(postgres, mode, `bench_import_${mode}`);
  try {
    const idle = await Promise.all(stack.pids.map(residentMegabytes));
    const points = Math.ceil((MILLION * options.scale) / POINTS_OF_CHUNK) * POINTS_OF_CHUNK;
    say(`\n${mode}, ${shown(points)} points; at rest ${shown(idle.reduce((sum, one) => sum + one, 0))} MiB.\n`);
    say(
      tableHead([
        "shape",
        "phase",
        "points/s",
        "s",
        "CPU µs a point: server + PostgreSQL",
        "most MiB: server + PostgreSQL",
      ]),
    );
    for (const shape of SHAPES.filter(({ name }) => name.includes(options.only))) await measure(stack, shape, points);
  } finally {
    await stack.stop();
  }
}

const options = parseBenchArguments(process.argv.slice(2));
const say = (text: string): void => void process.stdout.write(`${text}\n`);
await withFreshPostgres(async (postgres) => {
  for (const mode of options.modes) await bench(mode, postgres);
});
