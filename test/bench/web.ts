import { requireChromium } from "@tidemark/testkit";
import { signInWithKey, startChromium, LAPTOP, type cookieOf } from "../browser/browser.ts";
import { dashboardFolder } from "../browser/dashboard/dashboard-folder.ts";
import { seedProject } from "../browser/dashboard/seed-project.ts";
import type { Bench, BenchContext } from "./frame/bench.ts";
import { percentilesOf } from "./frame/percentiles.ts";
import { shown } from "./frame/report.ts";
import type { BenchStack } from "./frame/stack.ts";
import { untilCompacted } from "./metrics/compaction.ts";
import { fillRuns } from "./metrics/load-shots.ts";
import { seriesValues } from "./metrics/values.ts";
import type { Browser, BrowserContext, Page } from "playwright-core";

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

declare global {
  interface Window {
    /** When the last thing that was waited for had been painted, in milliseconds since the page was opened. */
    seenAt: number | undefined;
  }
}

/** The content that a page has to show before it counts as shown. */
type Sight = {
  readonly selector: string;
  /** Whether it is a canvas, which counts with a pixel that is not transparent. */
  readonly drawn?: boolean;
};

/** Opens pages of a server. */
type Opener = {
  readonly browser: Browser;
  readonly baseUrl: string;
  readonly cookie: ReturnType<typeof cookieOf>;
};

/** A page that shows what was waited for; the caller closes the context. */
type OpenedPage = { readonly page: Page; readonly context: BrowserContext; readonly ms: number };

const WAIT_MS = 120_000;

/** Resolves with the time when the page has painted the awaited content. @throws Error of the browser's driver after two minutes */
async function seenAt(page: Page): Promise<number> {
  const handle = await page.waitForFunction(() => window.seenAt, undefined, { timeout: WAIT_MS, polling: 20 });
  return (await handle.jsonValue()) as number;
}

/** Opens a page with an empty cache in a new context and waits until it shows something. */
async function openUntilSeen(opener: Opener, path: string, sight: Sight): Promise<OpenedPage> {
  const context = await opener.browser.newContext({ viewport: LAPTOP });
  try {
    await context.addCookies([opener.cookie]);
    const page = await context.newPage();
    await page.addInitScript(noteWhenSeen, sight);
    await page.goto(`${opener.baseUrl}${path}`, { waitUntil: "commit" });
    return { page, context, ms: await seenAt(page) };
  } catch (error) {
    await context.close();
    throw error;
  }
}

/**
 * Runs in the page: checks before each frame whether it shows the awaited content, and notes when the frame after has begun, because by then the frame
 * with it has been painted.
 */
function noteWhenSeen({ selector, drawn = false }: Sight): void {
  const hasPixels = (canvas: HTMLCanvasElement): boolean => {
    if (canvas.width === 0 || canvas.height === 0) return false;
    const scratch = document.createElement("canvas");
    [scratch.width, scratch.height] = [canvas.width, canvas.height];
    const context = scratch.getContext("2d", { willReadFrequently: true })!;
    context.drawImage(canvas, 0, 0);
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
    for (let alpha = 3; alpha < data.length; alpha += 4) if (data[alpha] !== 0) return true;
    return false;
  };
  const look = (): void => {
    const found = document.querySelector(selector);
    if (found === null || (drawn && !hasPixels(found as HTMLCanvasElement))) requestAnimationFrame(look);
    else requestAnimationFrame(() => void (window.seenAt = performance.now()));
  };
  window.seenAt = undefined;
  requestAnimationFrame(look);
}

/** Runs in the page: scrolls the table of runs to a row and returns the milliseconds until it has been painted. */
function jumpTo(row: number): Promise<number> {
  const grid = document.querySelector<HTMLElement>('[role="grid"]')!;
  const height = document.querySelector<HTMLElement>(".tm-grid-row")!.offsetHeight;
  const from = performance.now();
  grid.scrollTop = row * height;
  return new Promise((resolve) => {
    const look = (): void => {
      if (document.querySelector(`[data-index="${row}"] .tm-run-link`) === null) requestAnimationFrame(look);
      else requestAnimationFrame(() => resolve(performance.now() - from));
    };
    requestAnimationFrame(look);
  });
}
