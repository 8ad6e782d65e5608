import type { Bench, BenchContext } from "./frame/bench.ts";
import { measureRead, type Measured } from "./frame/measure.ts";
import { withSender } from "./frame/sender.ts";
import type { BenchStack } from "./frame/stack.ts";
import { commonReads, expression, summary, table, type ListRead } from "./lists/reads.ts";
import { SEED_METRICS } from "./seed/statements.ts";
import { seedSkewed } from "./seed/skewed.ts";

const RUNS = 100_000;
const DEEP_ROW = 25_000;

/** The targets of a row for a read. */
type Wanted = {
  readonly row: number;
  readonly p50?: number;
  readonly p95?: number;
  /** Milliseconds of CPU time of the server and PostgreSQL. */
  readonly cpu?: number;
};

const cpuOf = ({ cpu }: Measured): number => cpu.server + cpu.database;

/** Measures reads one after another and reports their targets. Returns the measurements by name. */
async function measureReads(
  { seconds, report, wants }: BenchContext,
  bench: BenchStack,
  reads: readonly (readonly [read: ListRead, wanted: Wanted])[],
): Promise<ReadonlyMap<ListRead, Measured>> {
  const found = new Map<ListRead, Measured>();
  for (const [read, { row, p50, p95, cpu }] of reads.filter(([{ name }]) => wants(name))) {
    const measured = await measureRead(bench, { method: "GET", path: read.path }, { seconds });
    found.set(read, measured);
    report.load(read.name, measured);
    if (p50 !== undefined) report.target({ row, what: `${read.name}, p50 ms`, value: measured.p50, wanted: p50 });
    if (p95 !== undefined) report.target({ row, what: `${read.name}, p95 ms`, value: measured.p95, wanted: p95 });
    const used = cpuOf(measured) / 1000;
    if (cpu !== undefined) report.target({ row, what: `${read.name}, CPU ms`, value: used, wanted: cpu });
  }
  return found;
}

/** Lists, searches and overviews, and the page of 50 runs of 20 metrics. */
async function measureLists(context: BenchContext, bench: BenchStack): Promise<void> {
  const { newest, ofProject, choosing, rareTag, rareWord, terms, best, overviewOfProject } = commonReads;
  const offset = Math.min(DEEP_ROW, Math.floor(context.scaled(RUNS) / 2));
  const { json } = await bench.api.get(`/api/runs/summary?limit=1&projection=selection&offset=${offset}`);
  const deep = { name: "page 1,000 by cursor", path: summary(`cursor=${String(json.next_cursor)}`) };
  const columns = SEED_METRICS.map((key) => `metrics.${key}`);
  const metrics = { name: "50 runs with 20 columns of metrics", path: table("", columns) };
  const asked = { row: 6, p50: 4, p95: 10 };
  const found = await measureReads(context, bench, [
    [newest, asked],
    [rareTag, asked],
    [rareWord, asked],
    [terms, asked],
    [best, asked],
    [deep, { row: 7 }],
    [expression, { row: 7, p95: 80 }],
    [overviewOfProject, { row: 7, p95: 10 }],
    [choosing, { row: 28 }],
    [ofProject, { row: 28, p95: 30, cpu: 10 }],
    [metrics, { row: 28, p95: 30, cpu: 10 }],
  ]);
  const ratio = (
    row: number,
    what: string,
    reads: readonly [ListRead, ListRead],
    bounds: readonly [number, number],
  ) => {
    const [first, second] = reads.map((read) => found.get(read));
    if (first === undefined || second === undefined) return;
    context.report.target({ row, what, value: cpuOf(first) / cpuOf(second), wanted: bounds[0], limit: bounds[1] });
  };
  ratio(7, "CPU of page 1,000, times that of the first page", [deep, newest], [1.2, 2]);
  ratio(28, "CPU of 50 runs with 20 metrics, times that without", [ofProject, choosing], [3, 5]);
  ratio(28, "CPU of 50 runs with 20 columns of metrics, times that without", [metrics, choosing], [3, 5]);
}

/** Tables with columns. The first sort by a config key is one request, because the values are kept afterwards. */
async function measureTables(context: BenchContext, bench: BenchStack): Promise<void> {
  const { report, wants, scaled } = context;
  const byConfig = table("sort_by=config.model.depth");
  if (wants("table by a config key, first")) {
    const started = performance.now();
    await withSender({ baseUrl: bench.stack.baseUrl, key: bench.key }, 1, ({ send }) =>
      send({ method: "GET", path: byConfig }),
    );
    const value = performance.now() - started;
    report.target({ row: 26, what: "table by a config key, the first time, ms", value, wanted: 500 });
  }
  const { json } = await bench.api.get("/projects");
  const projectId = (json.projects as { id: string; name: string }[]).find(({ name }) => name === "rl-control")!.id;
  const far = `offset=${Math.floor(scaled(RUNS) * 0.9)}`;
  const byMetric = "sort_by=metrics.eval/return_mean.best&sort_dir=desc";
  await measureReads(context, bench, [
    [
      { name: "table by a best metric", path: table(byMetric) },
      { row: 26, p50: 6, p95: 15 },
    ],
    [
      { name: "table by a config key, kept", path: byConfig },
      { row: 26, p50: 50 },
    ],
    [
      { name: "table by a config key, row 90,000", path: `${byConfig}&${far}` },
      { row: 26, p95: 150 },
    ],
    [
      { name: "table by a best metric, row 90,000", path: table(`${byMetric}&${far}`) },
      { row: 26, p95: 150 },
    ],
    [
      { name: "keys of a project", path: `/api/projects/${projectId}/keys?limit=100` },
      { row: 26, p95: 20 },
    ],
  ]);
}

/** Lists, searches and tables of an organization of 100,000 runs among 2,000 others. */
export const lists: Bench = {
  about: "lists, searches, tables, and a page of 50 runs of 20 metrics, on the skewed database (rows 6, 7, 26, 28)",
  async run(context) {
    const bench = await context.open();
    await seedSkewed(context, bench, [{ orgId: bench.orgId, runs: context.scaled(RUNS, 1000) }]);
    await measureLists(context, bench);
    await measureTables(context, bench);
  },
};
