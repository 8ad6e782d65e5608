import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cpus, totalmem } from "node:os";
import { openBenchStack, type BenchStack } from "./bench-stack.ts";
import { parseBenchArguments } from "./command-line.ts";
import { withFreshPostgres } from "./fresh-postgres.ts";
import { measureRead, type ReadCase, type ReadRow } from "./http-reads.ts";
import { shown, tableHead, tableRow } from "./markdown-table.ts";
import { bodiesNote } from "./metrics/metric-bodies.ts";
import { untilCompacted } from "./metrics/compaction-state.ts";
import { createGrower, GROWTH_KEYS, GROWTH_RUNS, type Grower } from "./metrics/grow-runs.ts";
import { growthPlots, type GrowthPoint } from "./metrics/growth-plots.ts";
import { metricTableBytes } from "./metrics/table-bytes.ts";
import { svgOf } from "./svg-plot.ts";

// How fast points go in and come out while their number grows from 100,000 on: half a decade at a time.

const FIRST = 1e5;
const options = parseBenchArguments(process.argv.slice(2));
const say = (text: string): void => void (options.json ? process.stderr : process.stdout).write(`${text}\n`);
const out = options.out ?? join(import.meta.dirname, "../../docs/benchmarks");

/** 1e5, 3.16e5, 1e6 … up to `to`. */
function stages(to: number): number[] {
  const found: number[] = [];
  for (let half = 0; ; half += 1) {
    const points = FIRST * 10 ** (half / 2);
    if (points > to * 1.001) return found.length === 0 ? [to] : found;
    found.push(points);
  }
}

function readsOf(grower: Grower): { chart: ReadCase; raw: ReadCase; page: ReadCase } {
  const pick = (index: number): { run: string; key: string } => ({
    run: grower.runIds[index % GROWTH_RUNS]!,
    key: grower.keys[index % GROWTH_KEYS]!,
  });
  return {
    chart: {
      name: "chart of a whole series, 1,000 M4 buckets",
      shot: (index) => {
        const { run, key } = pick(index);
        return {
          method: "POST",
          path: "/api/metrics/series",
          body: JSON.stringify({ key, run_ids: [run], buckets: 1000 }),
        };
      },
    },
    raw: {
      name: "1,000 points from anywhere",
      shot: (index) => {
        const { run, key } = pick(index);
        const from = Math.floor((((index * 7919) % 997) / 997) * Math.max(0, grower.steps() - 1000));
        return { method: "GET", path: `/runs/${run}/metrics?key=${encodeURIComponent(key)}&start_step=${from}` };
      },
    },
    page: { name: "GET /runs/{id}", shot: (index) => ({ method: "GET", path: `/runs/${pick(index).run}` }) },
  };
}

async function measureStage(bench: BenchStack, grower: Grower, points: number): Promise<GrowthPoint> {
  const scalarsPerSecond = await grower.growTo(points);
  const compactedAfter = await untilCompacted(bench);
  const rows: Partial<Record<"chart" | "raw" | "page", ReadRow>> = {};
  const reads = readsOf(grower);
  for (const name of ["chart", "raw", "page"] as const) {
    rows[name] = await measureRead(bench, reads[name], { when: `${shown(points)} points`, seconds: options.seconds });
  }
  for (const { name, errors, firstError } of Object.values(rows)) {
    if (errors > 0) say(`${errors} errors of ${name}: ${firstError}`);
  }
  const bytes = (await metricTableBytes(bench.owner)).total / grower.stored();
  return {
    points: grower.stored(),
    scalarsPerSecond,
    compactedAfter,
    bytesPerPoint: bytes,
    chart: rows.chart!,
    raw: rows.raw!,
    page: rows.page!,
  };
}

const latencies = ({ p50, p95 }: ReadRow): string => `${shown(p50, 1)} / ${shown(p95, 1)}`;

await withFreshPostgres(async (postgres) => {
  say(bodiesNote);
  for (const mode of options.modes) {
    const bench = await openBenchStack(postgres, mode, `bench_growth_${mode}`);
    const grower = await createGrower(bench);
    try {
      say(
        `\n${cpus().length} x ${cpus()[0]?.model.trim() ?? "unknown CPU"}, ${shown(totalmem() / 2 ** 30)} GiB, Node ${process.version}, ${mode}: ` +
          `${GROWTH_RUNS} runs of 1 organization x ${GROWTH_KEYS} keys, written in batches of 500 steps, 8 at a time; reads one at a time, compacted.\n`,
      );
      say(
        tableHead([
          "stored points",
          "scalars/s in",
          "compacted after s",
          "bytes per point",
          "chart, 1,000 M4 buckets: p50 / p95 ms",
          "1,000 points: p50 / p95 ms",
          "GET /runs/{id}: p50 / p95 ms",
        ]),
      );
      const stagesDone: GrowthPoint[] = [];
      for (const points of stages(options.to)) {
        const stage = await measureStage(bench, grower, points);
        stagesDone.push(stage);
        say(
          tableRow([
            shown(stage.points),
            shown(stage.scalarsPerSecond),
            shown(stage.compactedAfter, 1),
            shown(stage.bytesPerPoint, 2),
            latencies(stage.chart),
            latencies(stage.raw),
            latencies(stage.page),
          ]),
        );
      }
      await mkdir(out, { recursive: true });
      const name = `metrics-growth${mode === "split" ? "-split" : ""}`;
      const data = { runs: GROWTH_RUNS, organizations: 1, keys: GROWTH_KEYS, mode, stages: stagesDone };
      await writeFile(join(out, `${name}.json`), `${JSON.stringify(data, null, 2)}\n`);
      await writeFile(join(out, `${name}.svg`), svgOf(growthPlots(stagesDone)));
      if (options.json) process.stdout.write(`${JSON.stringify(data, null, 2)}\n`);
    } finally {
      await grower.close();
      await bench.stop();
    }
  }
});
