import type { Bench, BenchContext } from "./frame/bench.ts";
import { measureRead, type Measured } from "./frame/measure.ts";
import { shown } from "./frame/report.ts";
import type { BenchStack } from "./frame/stack.ts";
import { untilCompacted } from "./metrics/compaction.ts";
import { fillRuns } from "./metrics/load-shots.ts";
import { seriesValues } from "./metrics/values.ts";

const KEY = "train/loss";
const MANY_RUNS = 100;
const CHARTED_RUNS = 10;
const CHARTED_STEPS = 2000;
const chartKeys = Array.from({ length: 24 }, (_, i) => `chart/${i}`);

type Scene = {
  readonly many: readonly string[];
  readonly manySteps: number;
  readonly long: string;
  readonly longSteps: number;
  readonly charted: readonly string[];
};

async function prepare({ scaled }: BenchContext, bench: BenchStack): Promise<Scene> {
  const manySteps = scaled(100_000, 2000);
  const longSteps = scaled(10_000_000, 20_000);
  const [long, ...others] = await bench.newRuns(1 + MANY_RUNS + CHARTED_RUNS);
  const many = others.slice(0, MANY_RUNS);
  const charted = others.slice(MANY_RUNS);
  const fill = (runIds: readonly string[], steps: number, keys: readonly string[]): Promise<void> =>
    fillRuns(bench, runIds, {
      keys,
      seriesOf: (run) => keys.map((_key, at) => seriesValues("noisy", steps, 1 + run * keys.length + at)),
    });
  await fill(many, manySteps, [KEY]);
  await fill([long!], longSteps, [KEY]);
  await fill(charted, CHARTED_STEPS, chartKeys);
  await untilCompacted(bench);
  await bench.owner.query("VACUUM ANALYZE");
  return { many, manySteps, long: long!, longSteps, charted };
}

/** A read: the body of the request, and the desired 95th percentile. */
type Read = { readonly name: string; readonly body: object; readonly p95?: number };

function readsOf({ many, manySteps, long, longSteps, charted }: Scene): Read[] {
  const lines = { run_ids: many, buckets: 1000, grid: "shared" };
  const name = `${MANY_RUNS} runs of ${shown(manySteps)} points`;
  const smoothed = (kind: string, parameter: number): Read => ({
    name: `${name}, ${kind}`,
    body: { ...lines, smoothing: { kind, parameter } },
    p95: 2000,
  });
  return [
    { name, body: lines, p95: 300 },
    smoothed("ema", 0.99),
    smoothed("gaussian", 100),
    smoothed("mean", 100),
    { name: `a run of ${shown(longSteps)} points`, body: { run_ids: [long], buckets: 1000 }, p95: 150 },
    {
      name: "a quarter of it, with edges",
      body: { run_ids: [long], buckets: 1000, start_step: longSteps / 4, end_step: longSteps / 2, edges: true },
    },
    {
      name: `${chartKeys.length} charts of ${CHARTED_RUNS} runs`,
      body: { key: undefined, keys: chartKeys, run_ids: charted, buckets: 500, grid: "shared" },
      p95: 150,
    },
    { name: "1,000 points as they are", body: { run_ids: many.slice(0, 1), end_step: 999 } },
  ];
}

/** Charts as columns: many long runs, one very long run, many charts in one request; as they are, and smoothed. */
export const charts: Bench = {
  about: "charts as columns, smoothed and not (row 25)",
  async run(context) {
    const { open, report, seconds, wants } = context;
    const bench = await open();
    const found: Measured[] = [];
    for (const { name, body, p95 } of readsOf(await prepare(context, bench)).filter((read) => wants(read.name))) {
      const text = JSON.stringify({ format: "columns", key: KEY, ...body });
      const measured = await measureRead(
        bench,
        { method: "POST", path: "/api/metrics/series", body: text },
        { seconds, samplesMin: 40 },
      );
      report.load(name, measured);
      found.push(measured);
      if (p95 !== undefined) report.target({ row: 25, what: `${name}, p95 ms`, value: measured.p95, wanted: p95 });
    }
    const [plain, ...smoothed] = found.slice(0, 4).map(({ cpu }) => cpu.server + cpu.database);
    if (smoothed.length < 3) return;
    const value = Math.max(...smoothed) / plain!;
    report.target({ row: 25, what: "CPU of smoothed lines, times that of plain ones", value, wanted: 3, limit: 5 });
  },
};
