import { openBenchStack, type BenchStack } from "./bench-stack.ts";
import { parseBenchArguments } from "./command-line.ts";
import { withFreshPostgres, type BenchPostgres } from "./fresh-postgres.ts";
import { runLoad, type Shot } from "./load.ts";
import { shown, tableHead, tableRow } from "./markdown-table.ts";
import { cpuBetween, type CpuReading } from "./processes.ts";
import { otherOrganizations, seedRuns } from "./seed/seed-runs.ts";

// Tables with the bodies that log_table of the SDK sends, and reads of objects in a database that many organizations share.

const WARM_UP_SECONDS = 1;
const ROWS = 1000;
const SMALL_ORGANIZATIONS = 500;
const RUNS = 5000;
const OBJECTS_OF_RUN = 10;

type Case = { readonly name: string; readonly connections: readonly number[]; readonly shot: (index: number) => Shot };

/** What `log_table_object(key, columns, rows, step)` sends: compact neither in its separators nor in its floats. */
function tableBody(columns: number, step: number): string {
  const names = Array.from({ length: columns }, (_, i) => `column_${i}`);
  const cell = (row: number, column: number): string => {
    const value = (row * 7919 + column * 104_729 + step * 31) % 1_000_003;
    if (column % 4 === 0) return String(row + column);
    if (column % 4 === 3) return `"sample ${value % 500}"`;
    return String(value / 1_000_003);
  };
  const rows = Array.from(
    { length: ROWS },
    (_, row) => `{${names.map((name, column) => `"${name}": ${cell(row, column)}`).join(", ")}}`,
  );
  const summary = `{"columns": [${names.map((name) => `"${name}"`).join(", ")}], "row_count": ${ROWS}}`;
  return `{"key": "eval/samples", "kind": "table", "step": ${step}, "metadata": {}, "summary": ${summary}, "rows": [${rows.join(", ")}]}`;
}

/** Gives every run of the database some objects, as a training with an evaluation now and then has them. */
async function seedObjects({ owner }: BenchStack): Promise<void> {
  await owner.query(
    `INSERT INTO ingest.objects (org_id, id, run_id, project_id, key, kind, from_attribute, step, value, metadata, summary, bytes, created_at)
     SELECT r.org_id, row_number() OVER (), r.id, r.project_id, 'eval/' || o % 4,
            (ARRAY['table', 'table', 'image', 'histogram', 'histogram'])[1 + o % 5], false, o,
            '{"bins":[0,1,2,3],"counts":[1,2,3]}', '{}', '{}', 60, r.created_at + o * interval '1 minute'
     FROM runs.runs r, generate_series(1, ${OBJECTS_OF_RUN}) AS o`,
  );
  await owner.query("ANALYZE ingest.objects");
}

async function prepare(bench: BenchStack): Promise<Case[]> {
  await seedRuns(bench.owner, [
    ...otherOrganizations(SMALL_ORGANIZATIONS, 8),
    { orgId: bench.orgId, first: 1, last: RUNS },
  ]);
  await seedObjects(bench);
  const [run] = await bench.newRuns(1);
  const path = `/api/runs/${run}/objects`;
  const bodies = new Map([8, 128].map((columns) => [columns, [1, 2, 3, 4].map((step) => tableBody(columns, step))]));
  const ids = new Map<number, number>();
  for (const [columns, [rawBody]] of bodies) {
    const made = await bench.api.call("POST", path, { rawBody: rawBody! });
    if (made.status !== 200) throw new Error(`no table: ${made.status} ${made.text}`);
    ids.set(columns, made.json.object.id as number);
  }
  const listed = await bench.api.get("/api/objects/explorer?limit=1");
  const busy = listed.json.objects[0].run_id as string;
  const write = (columns: number): Case => ({
    name: `log_table, ${ROWS} rows, ${columns} columns (${shown(bodies.get(columns)![0]!.length)} bytes)`,
    connections: [1, 8],
    shot: (index) => ({ method: "POST", path, body: bodies.get(columns)![index % 4]! }),
  });
  const read = (name: string, pathOf: (index: number) => string): Case => ({
    name,
    connections: [1, 8],
    shot: (index) => ({ method: "GET", path: pathOf(index) }),
  });
  return [
    write(8),
    write(128),
    ...[8, 128].map((columns) =>
      read(
        `100 rows of ${columns} columns`,
        (index) => `/api/objects/${ids.get(columns)}/rows?limit=100&offset=${100 * (index % 10)}`,
      ),
    ),
    read("100 rows of 8 columns, from two chunks", () => `/api/objects/${ids.get(8)}/rows?limit=100&offset=450`),
    read("objects of a run", () => `/api/runs/${busy}/objects`),
    read("objects of a run, one key", () => `/api/runs/${busy}/objects?key=eval/1`),
    read("50 objects of an organization", () => "/api/objects/explorer"),
    read("50 objects of a project", () => "/api/objects/explorer?project=rl-control"),
    read("50 objects, a part of the key", () => "/api/objects/explorer?key=eval/3"),
    read("50 objects, a part of a key that nobody has", () => "/api/objects/explorer?key=nobody"),
    read("50 objects of the runs of a search", () => "/api/objects/explorer?q=canyon-4711"),
  ];
}

async function measure(bench: BenchStack, { name, shot }: Case, concurrency: number): Promise<string> {
  const readings: CpuReading[] = [];
  const { key, stack } = bench;
  const load = { baseUrl: stack.baseUrl, key, concurrency, warmUp: WARM_UP_SECONDS, seconds: options.seconds, shot };
  const result = await runLoad(load, async () => void readings.push(await bench.readCpu()));
  const { requests, seconds, p50, p95, errors, firstError } = result;
  if (firstError !== undefined) say(firstError);
  const used = cpuBetween(readings[0]!, readings[1]!);
  const cpu = [used.server, used.database].map((total) => shown((total * 1e3) / requests, 2)).join(" + ");
  return tableRow([name, concurrency, shown(requests / seconds), shown(p50, 1), shown(p95, 1), cpu, errors]);
}

async function bench(mode: "embedded" | "split", postgres: BenchPostgres): Promise<void> {
  const stack = await openBenchStack(postgres, mode, `bench_objects_${mode}`);
  try {
    const cases = await prepare(stack);
    say(
      `\n${mode}, ${SMALL_ORGANIZATIONS} other organizations, ${shown(RUNS * OBJECTS_OF_RUN)} objects of the one that is measured.\n`,
    );
    say(tableHead(["case", "connections", "requests/s", "p50 ms", "p95 ms", "CPU ms: server + PostgreSQL", "errors"]));
    for (const one of cases.filter(({ name }) => name.includes(options.only))) {
      for (const connections of one.connections) say(await measure(stack, one, connections));
    }
    const { rows } = await stack.owner.query<{ bytes: string; tables: string }>(
      "SELECT pg_total_relation_size('ingest.table_chunks') AS bytes, count(DISTINCT object_id) AS tables FROM ingest.table_chunks",
    );
    say(`\n${shown(Number(rows[0]!.bytes))} bytes of rows on the disk, ${shown(Number(rows[0]!.tables))} tables.`);
  } finally {
    await stack.stop();
  }
}

const options = parseBenchArguments(process.argv.slice(2));
const say = (text: string): void => void process.stdout.write(`${text}\n`);
await withFreshPostgres(async (postgres) => {
  for (const mode of options.modes) await bench(mode, postgres);
});
