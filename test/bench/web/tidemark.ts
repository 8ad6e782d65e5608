import type { Browser } from "playwright-core";
import { dashboardFolder } from "../../browser/dashboard/dashboard-folder.ts";
import { seedProject } from "../../browser/dashboard/seed-project.ts";
import type { Mode } from "../../stack/stack.ts";
import { openBenchStack, type BenchStack } from "../bench-stack.ts";
import type { BenchPostgres } from "../fresh-postgres.ts";
import { untilCompacted } from "../metrics/compaction-state.ts";
import { fillRuns } from "../metrics/fill-runs.ts";
import { ROW, type OurPages, type WebData } from "./cases.ts";
import { openWebScene } from "./scene.ts";
import { LINE_KEY, lineValues, WIDE_STEPS, wideValues, type WebSizes } from "./sizes.ts";
import type { OpenedTracker } from "./tracker.ts";

/** The most keys that a request may have. */
const KEYS_A_REQUEST = 1000;

/** Starts the product with the dashboard on a new database and fills it. */
export async function openTidemark(
  browser: Browser,
  postgres: BenchPostgres,
  mode: Mode,
  sizes: WebSizes,
): Promise<OpenedTracker<OurPages>> {
  const folder = await dashboardFolder();
  const bench = await openBenchStack(postgres, mode, `bench_web_${mode}`, { TIDEMARK_DASHBOARD_DIRECTORY: folder });
  try {
    const data = await prepare(bench, sizes);
    const scene = await openWebScene(browser, bench);
    // As the other trackers: the first page after a start is not measured.
    await (await scene.open(`/p/${data.many.project}`, ROW)).context.close();
    return { pages: { scene, bench, data }, close: () => bench.stop() };
  } catch (error) {
    await bench.stop();
    throw error;
  }
}

async function prepare(bench: BenchStack, sizes: WebSizes): Promise<WebData> {
  await seedProject(bench.stack, { orgId: bench.orgId, name: "many", runs: sizes.manyRuns });
  await fillRuns(bench, await bench.newRuns(sizes.lines), {
    keys: [LINE_KEY],
    seriesOf: (run) => [lineValues(run, sizes)],
    stepsPerRequest: 500,
  });
  const runIn = async (project: string): Promise<string> =>
    (await bench.api.post("/runs", { project, name: project })).json.run.id as string;
  const wide = await runIn("wide");
  for (let step = 0; step < WIDE_STEPS; step += 1) {
    const values = Object.entries(wideValues(step, sizes));
    for (let from = 0; from < values.length; from += KEYS_A_REQUEST) {
      const metrics = Object.fromEntries(values.slice(from, from + KEYS_A_REQUEST));
      const { status, text } = await bench.api.post(`/runs/${wide}/metrics`, { step, metrics });
      if (status !== 200) throw new Error(`the wide run is not written: ${status} ${text}`);
    }
  }
  const live = await runIn("live");
  await untilCompacted(bench);
  await bench.owner.query("VACUUM ANALYZE");
  return {
    many: { project: "many", runs: sizes.manyRuns },
    lines: { project: "bench", runs: sizes.lines, key: LINE_KEY },
    wide: { project: "wide", runId: wide, keys: sizes.wideKeys },
    live: { project: "live", runId: live },
  };
}
