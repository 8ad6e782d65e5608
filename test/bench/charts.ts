import { openBenchStack, type BenchStack } from "./bench-stack.ts";
import { parseBenchArguments } from "./command-line.ts";
import { withFreshPostgres, type BenchPostgres } from "./fresh-postgres.ts";
import { measureRead, readHead, readLine, type ReadCase, type ReadRow } from "./http-reads.ts";
import { shown, tableHead, tableRow } from "./markdown-table.ts";
import { bodiesNote } from "./metrics/metric-bodies.ts";
import { startBackgroundLoad } from "./metrics/background-load.ts";
import { CHART_KEY, chartReads, unchangedReads, type ChartRuns } from "./metrics/chart-reads.ts";
import { holdCompaction, untilCompacted } from "./metrics/compaction-state.ts";
import { fillRuns } from "./metrics/fill-runs.ts";
import type { LoadReport } from "./metrics/load-process.ts";
import { seriesValues, valueTape } from "./metrics/metric-values.ts";
import { oursOverHttp } from "./metrics/ours-over-http.ts";
import type { WriteLoad } from "./metrics/write-load.ts";
import { seedRuns } from "./seed/seed-runs.ts";

// Charts before and after compaction; then charts and the run list while batches arrive, at half of what is asked of this machine and of what it can do.

const options = parseBenchArguments(process.argv.slice(2));
const say = (text: string): void => void (options.json ? process.stderr : process.stdout).write(`${text}\n`);
const scaled = (count: number, least: number): number => Math.max(least, Math.round(count * options.scale));

const MIDDLE_STEPS = scaled(20_000, 5500);
const LONG_STEPS = scaled(500_000, 5500);
const MANY_RUNS = scaled(100, 8);
const MANY_STEPS = 2000;
const LISTED_RUNS = scaled(100_000, 1000);
const KEYS = ["eval/loss", "lr", "train/grad_norm", CHART_KEY];
const INGEST: WriteLoad = { runs: 32, points: 500, keys: 20, concurrency: 8 };
/** Scalars a second that a machine of two cores has to take, at least. */
const WANTED_SCALARS = 400_000;
const INGEST_SHARE = 0.5;

async function prepare(bench: BenchStack): Promise<ChartRuns> {
  const [middle, long, ...many] = await bench.newRuns(2 + MANY_RUNS);
  const fill = (runIds: readonly string[], steps: number): Promise<void> =>
    fillRuns(bench, runIds, {
      keys: KEYS,
      seriesOf: (run) => KEYS.map((_key, at) => seriesValues("noisy", steps, 1 + run * KEYS.length + at)),
      stepsPerRequest: 500,
    });
  await fill([middle!], MIDDLE_STEPS);
  await fill([long!], LONG_STEPS);
  await fill(many, MANY_STEPS);
  return { middle: { id: middle!, steps: MIDDLE_STEPS }, long: { id: long!, steps: LONG_STEPS }, many };
}

const listReads: readonly ReadCase[] = [
  // Of a project that nothing is written to, so that the page is the same while others are.
  ["newest 25 runs", "/runs?limit=25&project=rl-control"],
  ["runs with a rare tag, with total", `/api/runs/summary?limit=25&q=${encodeURIComponent("tag:paper-fig3")}`],
  ["runs with a rare word, with total", "/api/runs/summary?limit=25&q=canyon-4711"],
  ["runs by their best value", "/api/runs/summary?limit=25&sort_by=metric-best&metric_key=eval/return_mean"],
].map(([name, path]) => ({ name: name!, shot: () => ({ method: "GET", path: path! }) }));

async function measureAll(
  bench: BenchStack,
  reads: readonly ReadCase[],
  when: string,
  alone = true,
): Promise<ReadRow[]> {
  const rows: ReadRow[] = [];
  for (const read of reads.filter(({ name }) => name.includes(options.only))) {
    const row = await measureRead(bench, read, { when, seconds: options.seconds, alone });
    rows.push(row);
    say(readLine(row));
  }
  return rows;
}

function sayRatios(idle: readonly ReadRow[], busy: readonly ReadRow[]): void {
  say(`\n${tableHead(["read", "p50 while ingesting / idle", "p95 while ingesting / idle"])}`);
  for (const [index, { name, p50, p95 }] of busy.entries()) {
    const before = idle[index]!;
    say(tableRow([name, `${shown(p50 / before.p50, 2)} x`, `${shown(p95 / before.p95, 2)} x`]));
  }
}

/** Returns the batches a second that the server takes in a closed loop. */
async function capacity(bench: BenchStack): Promise<number> {
  const write = await oursOverHttp(bench, valueTape()).prepare(INGEST);
  const { requests, seconds } = await write({ warmUp: 2, seconds: options.seconds });
  return requests / seconds;
}

/** Measures the reads while batches arrive in an open loop at `rate` requests a second. */
async function whileIngesting(
  bench: BenchStack,
  reads: readonly ReadCase[],
  rate: number,
): Promise<{ rows: ReadRow[]; load: LoadReport; rate: number }> {
  await untilCompacted(bench);
  const runIds = await bench.newRuns(INGEST.runs);
  const { stack, key } = bench;
  const background = await startBackgroundLoad({
    ...INGEST,
    concurrency: 32,
    baseUrl: stack.baseUrl,
    key,
    runIds,
    rate,
  });
  const scalars = INGEST.points * INGEST.keys;
  say(
    `\nWhile batches of ${INGEST.points} points x ${INGEST.keys} keys go to ${INGEST.runs} runs of the same organization, in an open loop at ` +
      `${shown(rate * scalars)} scalars/s:\n\n${readHead}`,
  );
  const rows = await measureAll(bench, reads, "ingesting", false);
  const load = await background.stop();
  say(
    `\n${shown((load.answered / load.seconds) * scalars)} scalars/s were answered, p50 ${shown(load.p50, 1)} ms, ` +
      `p95 ${shown(load.p95, 1)} ms, ${load.errors} errors.`,
  );
  return { rows, load, rate };
}

async function bench(mode: "embedded" | "split", postgres: BenchPostgres): Promise<object> {
  const stack = await openBenchStack(postgres, mode, `bench_charts_${mode}`);
  try {
    const release = await holdCompaction(stack);
    const runs = await prepare(stack);
    say(`\n${mode}, 1 organization, one client.\n\n${readHead}`);
    const segments = await measureAll(stack, chartReads(runs), "landing segments, not compacted");
    await release();
    const compactionSeconds = await untilCompacted(stack);
    await stack.owner.query("VACUUM ANALYZE");
    const charts = await measureAll(stack, chartReads(runs), "compacted");
    const unchanged = await measureAll(stack, await unchangedReads(stack, runs), "compacted");
    say(`\nThe compaction of all of it took ${shown(compactionSeconds, 1)} s.`);
    await seedRuns(stack.owner, [{ orgId: stack.orgId, first: 1, last: LISTED_RUNS }]);
    say(`\nWith ${shown(LISTED_RUNS)} runs in the organization:\n\n${readHead}`);
    const reads = [...listReads, ...chartReads(runs)];
    const idle = await measureAll(stack, reads, "idle");
    const most = await capacity(stack);
    const wanted = WANTED_SCALARS / (INGEST.points * INGEST.keys);
    const busy = [];
    for (const full of [wanted, most]) {
      const found = await whileIngesting(stack, reads, full * INGEST_SHARE);
      sayRatios(idle, found.rows);
      busy.push(found);
    }
    return { mode, segments, charts, unchanged, compactionSeconds, idle, busy, capacity: most };
  } finally {
    await stack.stop();
  }
}

await withFreshPostgres(async (postgres) => {
  say(bodiesNote);
  for (const mode of options.modes) {
    const found = await bench(mode, postgres);
    if (options.json) process.stdout.write(`${JSON.stringify(found, null, 2)}\n`);
  }
});
