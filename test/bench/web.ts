import { cpus } from "node:os";
import { dashboardFolder } from "../browser/dashboard/dashboard-folder.ts";
import { seedProject } from "../browser/dashboard/seed-project.ts";
import { openBenchStack, type BenchStack } from "./bench-stack.ts";
import { parseBenchArguments } from "./command-line.ts";
import { withFreshPostgres } from "./fresh-postgres.ts";
import { shown, tableHead, tableRow } from "./markdown-table.ts";
import { untilCompacted } from "./metrics/compaction-state.ts";
import { fillRuns } from "./metrics/fill-runs.ts";
import { seriesValues } from "./metrics/metric-values.ts";
import { percentilesOf } from "./percentiles.ts";
import { webCases, type WebData, type WebFigure } from "./web/cases.ts";
import { openWebScene } from "./web/scene.ts";

// What a person waits for in the dashboard, measured in Chromium beside the server on the same machine.

const options = parseBenchArguments(process.argv.slice(2));
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const scaled = (count: number, least: number): number => Math.max(least, Math.round(count * options.scale));

const MANY_RUNS = scaled(100_000, 1000);
const LINES = 100;
const LINE_STEPS = scaled(100_000, 1000);
const WIDE_KEYS = scaled(5000, 100);
const LINE_KEY = "train/loss";

async function prepare(bench: BenchStack): Promise<WebData> {
  await seedProject(bench.stack, { orgId: bench.orgId, name: "many", runs: MANY_RUNS });
  const lines = await bench.newRuns(LINES);
  await fillRuns(bench, lines, {
    keys: [LINE_KEY],
    seriesOf: (run) => [seriesValues("noisy", LINE_STEPS, 1 + run)],
    stepsPerRequest: 500,
  });
  const runIn = async (project: string): Promise<string> =>
    (await bench.api.post("/runs", { project, name: project })).json.run.id as string;
  const wide = await runIn("wide");
  for (let step = 0; step < 20; step += 1) {
    const metrics = Object.fromEntries(
      Array.from({ length: WIDE_KEYS }, (_, i) => [`layer_${Math.floor(i / 10)}/value_${i % 10}`, i / (step + 1)]),
    );
    await bench.api.post(`/runs/${wide}/metrics`, { step, metrics });
  }
  const live = await runIn("live");
  await untilCompacted(bench);
  await bench.owner.query("VACUUM ANALYZE");
  return {
    many: { project: "many", runs: MANY_RUNS },
    lines: { project: "bench", runs: LINES, key: LINE_KEY },
    wide: { project: "wide", runId: wide, keys: WIDE_KEYS },
    live: { project: "live", runId: live },
  };
}

function figureRow({ name, unit, values, wanted }: WebFigure): string {
  const { p50, p95 } = percentilesOf(values);
  const digits = unit === "" ? 1 : p50 < 20 ? 1 : 0;
  return tableRow([
    `${name}${unit === "" ? "" : `, ${unit}`}`,
    shown(p50, digits),
    shown(p95, digits),
    values.length,
    wanted,
  ]);
}

await withFreshPostgres(async (postgres) => {
  for (const mode of options.modes) {
    const folder = await dashboardFolder();
    const bench = await openBenchStack(postgres, mode, `bench_web_${mode}`, { TIDEMARK_DASHBOARD_DIRECTORY: folder });
    try {
      const data = await prepare(bench);
      const scene = await openWebScene(bench);
      try {
        say(
          `\n${mode}, ${cpus().length} x ${cpus()[0]?.model.trim() ?? "unknown CPU"}, Chromium ${scene.browser.version()}.\n`,
        );
        say(tableHead(["measured", "p50", "p95", "times", "wanted"]));
        for (const [name, measure] of webCases) {
          if (!name.includes(options.only)) continue;
          for (const figure of await measure(scene, bench, data, options.rounds * 4)) say(figureRow(figure));
        }
      } finally {
        await scene.browser.close();
      }
    } finally {
      await bench.stop();
    }
  }
});
