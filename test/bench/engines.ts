import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { requireChromium } from "@tidemark/testkit";
import type { Browser, Page } from "playwright-core";
import { LAPTOP, startChromium } from "../browser/browser.ts";
import type { Bench } from "./frame/bench.ts";
import { percentilesOf } from "./frame/percentiles.ts";
import { shown } from "./frame/report.ts";

const run = promisify(execFile);
const web = join(import.meta.dirname, "../../web");
const UPLOT = "uplot@1.6.32";
const LINES = 100;
/** Buckets as the server sends them for the width of the chart, some points of each line, and all. */
const BUCKETS = 1000;
const SOME_POINTS = 10_000;
const POINTS = 100_000;
const ZOOMS = 10;
const MOVES = 60;
const ENGINES = ["own", "uPlot"] as const;
const PAINTINGS: readonly Painting[] = ["not painted", "painted"];

/** Milliseconds on the processor of the main thread, and until it has been painted. */
type Spent = { readonly thread: number; readonly wall: number };

/** Whether lines are painted; without that, the time is that of the engine's code alone, as with a graphics processor. */
type Painting = "painted" | "not painted";

type Cost = { readonly draw: Spent; readonly zoom: Spent; readonly move: Spent };

/** The dashboard's drawing of lines compared with uPlot: bytes of code, and the main thread's time for drawing, zooming and pointing. */
export const engines: Bench = {
  about: "our line charts and uPlot, in Chromium (docs/adr/0060)",
  onlyByName: true,
  async run({ report, rounds, scaled }) {
    const executable = await requireChromium("the benchmark of chart engines");
    if (executable === undefined) throw new Error("Chromium is not available");
    const folder = await mkdtemp(join(tmpdir(), "tidemark-engines-"));
    const browser = await startChromium(executable);
    try {
      await run("npm", ["install", "--prefix", folder, "--no-save", UPLOT]);
      const uPlot = await readFile(join(folder, "node_modules/uplot/dist/uPlot.iife.min.js"), "utf8");
      const page = await bundled("src/charts/engines.fixture.tsx", folder, []);
      const chart = await bundled("src/charts/line-chart.tsx", folder, ["--external:preact*", "--external:@preact/*"]);
      report.say(`code, gzip: own ${gzipSync(chart).length}, uPlot ${gzipSync(uPlot).length} bytes`);
      const cases = [
        { name: "buckets", points: BUCKETS, hasBands: false },
        { name: "buckets with bands", points: BUCKETS, hasBands: true },
        { name: "points", points: scaled(SOME_POINTS, BUCKETS), hasBands: false },
        { name: "points", points: scaled(POINTS, BUCKETS), hasBands: false },
      ];
      for (const { name, points, hasBands } of cases)
        for (const engine of ENGINES) {
          const costs: Record<Painting, Cost[]> = { painted: [], "not painted": [] };
          for (let round = 0; round < rounds; round += 1)
            for (const painting of PAINTINGS)
              costs[painting].push(await costOf(browser, [uPlot, page], { engine, points, hasBands, painting }));
          const middle = (part: keyof Cost): string =>
            (
              [
                ["not painted", "thread"],
                ["painted", "thread"],
                ["painted", "wall"],
              ] as const
            )
              .map(([painting, of]) => shown(percentilesOf(costs[painting].map((cost) => cost[part][of])).p50))
              .join(" / ");
          report.say(
            `${LINES} lines of ${points} ${name}, ${engine}: draw ${middle("draw")}, zoom ${middle("zoom")}, pointer ${middle("move")} ms (code / main thread with painting / until painted)`,
          );
        }
    } finally {
      await browser.close();
      await rm(folder, { recursive: true });
    }
  },
};

async function bundled(entry: string, folder: string, more: readonly string[]): Promise<string> {
  const options = ["--bundle", "--minify", "--format=esm", "--jsx=automatic", "--jsx-import-source=preact"];
  await run(join(web, "node_modules/.bin/esbuild"), [entry, ...options, ...more, `--outdir=${folder}`], { cwd: web });
  return readFile(join(folder, entry.replace(/^.*\/([^/]+)\.tsx$/, "$1.js")), "utf8");
}

/** Draws lines in a new page, zooms and points at them. Returns the milliseconds that each takes the main thread. */
async function costOf(
  browser: Browser,
  scripts: readonly string[],
  {
    engine,
    points,
    hasBands,
    painting,
  }: {
    readonly engine: (typeof ENGINES)[number];
    readonly points: number;
    readonly hasBands: boolean;
    readonly painting: Painting;
  },
): Promise<Cost> {
  const context = await browser.newContext({ viewport: LAPTOP });
  const page = await context.newPage();
  await page.setContent('<!doctype html><html data-theme="light"><div id="app"></div></html>');
  for (const content of scripts) await page.addScriptTag({ content, type: content === scripts[0] ? "" : "module" });
  await page.waitForFunction(() => "engines" in window);
  if (painting === "not painted")
    await page.evaluate(() => {
      const nothing = (): void => {};
      Object.assign(CanvasRenderingContext2D.prototype, { stroke: nothing, fill: nothing });
    });
  const busy = await busyOf(page);
  await page.evaluate(
    ([name, lines, count, bands]) => {
      Object.assign(window, { drawLines: window.engines[name](lines, count, bands) });
    },
    [engine, LINES, points, hasBands] as const,
  );
  const draw = await busy(() =>
    page.evaluate(() => {
      const { drawLines } = window as unknown as { readonly drawLines: () => unknown };
      Object.assign(window, { zoomTo: drawLines() });
    }),
  );
  const zoom = await busy(() => page.evaluate(zoomOften, ZOOMS));
  const box = (await page.locator("canvas").first().boundingBox())!;
  const move = await busy(async () => {
    for (let i = 0; i < MOVES; i += 1) await page.mouse.move(box.x + 100 + 10 * i, box.y + 150 + (i % 7));
  });
  await context.close();
  const each = ({ thread, wall }: Spent, times: number): Spent => ({ thread: thread / times, wall: wall / times });
  return { draw, zoom: each(zoom, ZOOMS), move: each(move, MOVES) };
}

/** Runs in the page: zooms into one part after the other, each in a frame of its own. */
async function zoomOften(times: number): Promise<void> {
  const { zoomTo } = window as unknown as { readonly zoomTo: (range: readonly [number, number]) => void };
  const frame = (): Promise<unknown> => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  for (let i = 0; i < times; i += 1) {
    zoomTo([1000 * i, 50_000 + 1000 * i]);
    await frame();
    await frame();
  }
}

/** Returns a function that measures what something takes the page, until two frames after it. */
async function busyOf(page: Page): Promise<(act: () => Promise<unknown>) => Promise<Spent>> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const settled = (): Promise<unknown> =>
    page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  // Time on the processor, so that other work of the machine does not count. All of it: what is drawn outside of a frame is painted behind its task.
  const threadMs = async (): Promise<number> => {
    const { metrics } = await session.send("Performance.getMetrics");
    return 1000 * metrics.find(({ name }) => name === "ThreadTime")!.value;
  };
  return async (act) => {
    await settled();
    const from = await threadMs();
    const beganAt = performance.now();
    await act();
    await settled();
    const wall = performance.now() - beganAt;
    return { thread: (await threadMs()) - from, wall };
  };
}
