import { openBenchStack, type BenchStack } from "./bench-stack.ts";
import { parseBenchArguments } from "./command-line.ts";
import { withFreshPostgres } from "./fresh-postgres.ts";
import { measureRead, readHead, readLine, type ReadCase, type ReadRow } from "./http-reads.ts";
import { shown } from "./markdown-table.ts";
import { CHART_KEY } from "./metrics/chart-reads.ts";
import { untilCompacted } from "./metrics/compaction-state.ts";
import { fillRuns } from "./metrics/fill-runs.ts";
import { seriesValues } from "./metrics/metric-values.ts";

// Charts as columns: many long runs, one very long run, many charts in one request; as they are, and smoothed.

const options = parseBenchArguments(process.argv.slice(2));
const say = (text: string): void => void (options.json ? process.stderr : process.stdout).write(`${text}\n`);
const scaled = (count: number, least: number): number => Math.max(least, Math.round(count * options.scale));

const MANY_RUNS = 100;
const MANY_STEPS = scaled(100_000, 2000);
const LONG_STEPS = scaled(10_000_000, 20_000);
const CHARTS = 24;
const CHARTED_RUNS = 10;
const CHARTED_STEPS = 2000;

async function prepare(bench: BenchStack): Promise<{ many: string[]; long: string; charted: string[] }> {
  const [long, ...others] = await bench.newRuns(1 + MANY_RUNS + CHARTED_RUNS);
  const many = others.slice(0, MANY_RUNS);
  const charted = others.slice(MANY_RUNS);
  const fill = (runIds: readonly string[], steps: number, keys: readonly string[]): Promise<void> =>
    fillRuns(bench, runIds, {
      keys,
      seriesOf: (run) => keys.map((_key, at) => seriesValues("noisy", steps, 1 + run * keys.length + at)),
      stepsPerRequest: 500,
    });
  await fill(many, MANY_STEPS, [CHART_KEY]);
  await fill([long!], LONG_STEPS, [CHART_KEY]);
  await fill(charted, CHARTED_STEPS, chartKeys);
  return { many, long: long!, charted };
}

const chartKeys = Array.from({ length: CHARTS }, (_, i) => `chart/${i}`);

function reads({ many, long, charted }: Awaited<ReturnType<typeof prepare>>): ReadCase[] {
  const of = (name: string, body: object): ReadCase => ({
    name,
    shot: () => ({
      method: "POST",
      path: "/api/metrics/series",
      body: JSON.stringify({ format: "columns", key: CHART_KEY, ...body }),
    }),
  });
  const wide = { run_ids: many, buckets: 1000, grid: "shared" };
  const count = (steps: number): string => steps.toLocaleString("en-US");
  const name = `${MANY_RUNS} runs x ${count(MANY_STEPS)} points, 1,000 buckets`;
  const middle = { start_step: LONG_STEPS / 4, end_step: LONG_STEPS / 2, edges: true };
  return [
    of(name, wide),
    of(`${name}, ema`, { ...wide, smoothing: { kind: "ema", parameter: 0.99 } }),
    of(`${name}, gaussian`, { ...wide, smoothing: { kind: "gaussian", parameter: 100 } }),
    of(`${name}, mean`, { ...wide, smoothing: { kind: "mean", parameter: 100 } }),
    of(`1 run of ${count(LONG_STEPS)} points, 1,000 buckets`, { run_ids: [long], buckets: 1000 }),
    of(`a quarter of ${count(LONG_STEPS)} points, 1,000 buckets`, { run_ids: [long], buckets: 1000, ...middle }),
    of(`${CHARTS} keys of ${CHARTED_RUNS} runs x ${count(CHARTED_STEPS)} points, 500 buckets`, {
      key: undefined,
      keys: chartKeys,
      run_ids: charted,
      buckets: 500,
      grid: "shared",
    }),
    of("1,000 points as they are", { run_ids: many.slice(0, 1), end_step: 999 }),
  ];
}

await withFreshPostgres(async (postgres) => {
  for (const mode of options.modes) {
    const bench = await openBenchStack(postgres, mode, `bench_columns_${mode}`);
    try {
      const runs = await prepare(bench);
      say(`\nCompacted within ${shown(await untilCompacted(bench), 1)} s.`);
      await bench.owner.query("VACUUM ANALYZE");
      say(`\n${mode}, 1 organization, one client.\n\n${readHead}`);
      const rows: ReadRow[] = [];
      for (const read of reads(runs).filter((one) => one.name.includes(options.only))) {
        const row = await measureRead(bench, read, { when: "compacted", seconds: options.seconds });
        rows.push(row);
        say(readLine(row));
      }
      if (options.json) process.stdout.write(`${JSON.stringify({ mode, rows }, null, 2)}\n`);
    } finally {
      await bench.stop();
    }
  }
});
