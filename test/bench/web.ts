import { requireChromium } from "@tidemark/testkit";
import { signInWithKey, startChromium } from "../browser/browser.ts";
import { dashboardFolder } from "../browser/dashboard/dashboard-folder.ts";
import { seedProject } from "../browser/dashboard/seed-project.ts";
import type { Bench, BenchContext } from "./frame/bench.ts";
import { percentilesOf } from "./frame/percentiles.ts";
import { shown } from "./frame/report.ts";
import type { BenchStack } from "./frame/stack.ts";
import { untilCompacted } from "./metrics/compaction.ts";
import { fillRuns } from "./metrics/fill-runs.ts";
import { seriesValues } from "./metrics/values.ts";
import { jumpTo, openUntilSeen, seenAt, type OpenedPage, type Opener, type Sight } from "./web/open-page.ts";

const MANY_RUNS = 100_000;
const LINES = 100;
const LINE_STEPS = 100_000;
const LINE_KEY = "train/loss";
const WIDE_KEYS = 5000;
/** Each page is opened so often in a round. */
const TIMES_A_ROUND = 4;
const ROW: Sight = { selector: ".tm-grid-row .tm-run-link" };
/** A chart that has been drawn and whose label, which is set before it is drawn, says this. */
const chartOf = (said: string): Sight => ({
  selector: `.tm-chart-plot[aria-label*="${said}"] canvas:first-child`,
  drawn: true,
});

/** Makes a project of many runs, one whose runs have long lines, and a run of many keys. Returns the path of that run. */
async function prepare({ scaled }: BenchContext, bench: BenchStack): Promise<string> {
  await seedProject(bench.stack, { orgId: bench.orgId, name: "many", runs: scaled(MANY_RUNS, 1000) });
  await fillRuns(bench, await bench.newRuns(LINES), {
    keys: [LINE_KEY],
    seriesOf: (run) => [seriesValues("noisy", scaled(LINE_STEPS, 1000), 1 + run)],
  });
  const wide = (await bench.api.post("/runs", { project: "wide" })).json.run.id as string;
  const keys = Array.from({ length: scaled(WIDE_KEYS, 100) }, (_, i) => `layer_${Math.floor(i / 10)}/value_${i % 10}`);
  for (let step = 0; step < 20; step += 1) {
    for (let from = 0; from < keys.length; from += 1000) {
      const metrics = Object.fromEntries(
        keys.slice(from, from + 1000).map((name, i) => [name, (from + i) / (step + 1)]),
      );
      const { status, text } = await bench.api.post(`/runs/${wide}/metrics`, { step, metrics });
      if (status !== 200) throw new Error(`the wide run is not written: ${status} ${text}`);
    }
  }
  await untilCompacted(bench);
  await bench.owner.query("VACUUM ANALYZE");
  return `/p/wide/r/${wide}`;
}

/** Opens a page several times, takes figures of each, and reports them. */
async function measurePage(
  { report, rounds }: BenchContext,
  opener: Opener,
  { path, sight, wanted }: { path: string; sight: Sight; wanted: Readonly<Record<string, number>> },
  look: (opened: OpenedPage, time: number) => Promise<number[]>,
): Promise<void> {
  const found: number[][] = Object.keys(wanted).map(() => []);
  for (let time = 0; time < rounds * TIMES_A_ROUND; time += 1) {
    const opened = await openUntilSeen(opener, path, sight);
    const values = await look(opened, time);
    values.forEach((value, at) => found[at]!.push(value));
    await opened.context.close();
  }
  for (const [at, [what, p95Wanted]] of Object.entries(wanted).entries()) {
    const { p50, p95 } = percentilesOf(found[at]!);
    report.say(`${what}: p50 ${shown(p50)}, p95 ${shown(p95)} ms`);
    report.target({ row: 27, what: `${what}, p95 ms`, value: p95, wanted: p95Wanted });
  }
}

/** Waiting times of a person in the dashboard, in a Chromium on the server's machine. */
export const web: Bench = {
  about: "what a person waits for in the dashboard, in Chromium (row 27)",
  onlyByName: true,
  async run(context) {
    const executable = await requireChromium("the benchmark of pages");
    if (executable === undefined) throw new Error("Chromium is not available");
    const bench = await context.open({ TIDEMARK_DASHBOARD_DIRECTORY: await dashboardFolder() });
    const wide = await prepare(context, bench);
    const browser = await startChromium(executable);
    const { baseUrl } = bench.stack;
    const opener = { browser, baseUrl, cookie: await signInWithKey(baseUrl, bench.key) };
    const far = context.scaled(MANY_RUNS, 1000) * 0.9;
    try {
      const rows = { path: "/p/many", sight: ROW };
      // The server loads parts of itself with its first requests.
      await (await openUntilSeen(opener, rows.path, ROW)).context.close();
      const wantedRows = { "first rows, empty cache": 300, "first rows, opened again": 150 };
      await measurePage(context, opener, { ...rows, wanted: wantedRows }, async ({ page, ms }) => {
        await page.reload({ waitUntil: "commit" });
        return [ms, await seenAt(page)];
      });
      const jumps = { ...rows, path: "/p/many?split=100", wanted: { "a jump to row 90,000 and others": 150 } };
      await measurePage(context, opener, jumps, async ({ page }, time) => [
        await page.evaluate(jumpTo, Math.floor(far / (time + 1))),
      ]);
      const lines = { path: `/p/bench?first=${LINES}`, sight: chartOf(`${LINES} lines`) };
      const wantedLines = { [`${LINES} long lines in a chart`]: 800 };
      await measurePage(context, opener, { ...lines, wanted: wantedLines }, async ({ ms }) => Promise.resolve([ms]));
      const keys = { path: wide, sight: chartOf(" line"), wanted: { "first chart of a run of 5,000 keys": 400 } };
      await measurePage(context, opener, keys, async ({ ms }) => Promise.resolve([ms]));
    } finally {
      await browser.close();
    }
  },
};
