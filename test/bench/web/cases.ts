import { setTimeout as pause } from "node:timers/promises";
import type { Page } from "playwright-core";
import type { BenchStack } from "../bench-stack.ts";
import { firstRowFigures, openingFigure, questions } from "./openings.ts";
import type { WebScene } from "./scene.ts";
import { noteWhenSeen, seenAt, type Sight } from "./sight.ts";
import type { TrackerCase } from "./tracker.ts";

/** What is in the database. */
export type WebData = {
  /** A project with this many runs. */
  readonly many: { readonly project: string; readonly runs: number };
  /** A project whose runs have long series of one key. */
  readonly lines: { readonly project: string; readonly runs: number; readonly key: string };
  /** A run with many keys. */
  readonly wide: { readonly project: string; readonly runId: string; readonly keys: number };
  /** A run that still logs. */
  readonly live: { readonly project: string; readonly runId: string };
};

/** Our pages with what is behind them. */
export type OurPages = { readonly scene: WebScene; readonly bench: BenchStack; readonly data: WebData };

type Case = TrackerCase<OurPages>[1];

/** Pages that open quickly are opened this many times a round. */
const TIMES_A_ROUND = 4;
/** A row of the table of runs. */
export const ROW: Sight = { selector: ".tm-grid-row .tm-run-link", text: String.raw`run-\d+` };

/** A chart that has been drawn and whose label, which is set before it is drawn, says this. */
const chartOf = (said: string, key?: string): Sight => ({
  selector: `${key === undefined ? "" : `[data-key="${key}"] `}.tm-chart-plot[aria-label*="${said}"] canvas:first-child`,
  drawn: "canvas",
});

/** The first rows of a large project: with an empty cache, and opened again; what that takes over the wire. */
const firstRows: Case = ({ scene, data: { many } }, rounds) =>
  firstRowFigures(() => scene.open(`/p/${many.project}`, ROW), rounds * TIMES_A_ROUND, {
    cold: "p95 300",
    warm: "p95 150",
    code: "107",
    data: "12",
  });

/** Jumps to rows far below, and frames while scrolling. */
const jumps: Case = async ({ scene, data: { many } }, rounds) => {
  const { page, context } = await scene.open(`/p/${many.project}?split=100`, ROW);
  const times = rounds * TIMES_A_ROUND;
  const values: number[] = [];
  let most = 0;
  for (let i = 0; i < times; i += 1) {
    const row = Math.floor(many.runs * 0.9 * (1 - i / times));
    values.push(await page.evaluate(jumpTo, row));
    most = Math.max(most, await page.locator('[role="row"]').count());
  }
  const frames = await page.evaluate(scrollSmoothly);
  await context.close();
  return [
    {
      name: `a jump to row ${(many.runs * 0.9).toLocaleString("en-US")} and others`,
      unit: "ms",
      values,
      note: "p95 150",
    },
    { name: "rows in the document", unit: "", values: [most], note: "80" },
    { name: "a frame while scrolling", unit: "ms", values: frames, note: "p95 32" },
  ];
};

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

function scrollSmoothly(): Promise<number[]> {
  const grid = document.querySelector<HTMLElement>('[role="grid"]')!;
  const frames: number[] = [];
  return new Promise((resolve) => {
    let last = performance.now();
    const step = (now: number): void => {
      frames.push(now - last);
      last = now;
      grid.scrollTop += 120;
      if (frames.length < 120) requestAnimationFrame(step);
      else resolve(frames.slice(1));
    };
    requestAnimationFrame(step);
  });
}

/** A run with thousands of keys: its charts, and a letter in the search of keys. */
const manyKeys: Case = async ({ scene, data: { wide } }, rounds) => {
  const letters: number[] = [];
  const drawn = await openingFigure(
    () => scene.open(`/p/${wide.project}/r/${wide.runId}`, chartOf(" line")),
    rounds * TIMES_A_ROUND,
    { name: questions.wide, note: "p95 400" },
    async ({ page }, time) => {
      if (time > 0) return;
      await page.getByRole("searchbox", { name: "Search metrics" }).focus();
      for (const letter of "layer_12") letters.push(await page.evaluate(typeLetter, letter));
    },
  );
  return [drawn, { name: "a letter in the search of its keys", unit: "ms", values: letters, note: "16" }];
};

/** What the page does for a letter until the next frame has begun. */
function typeLetter(letter: string): Promise<number> {
  const field = document.activeElement as HTMLInputElement;
  const from = performance.now();
  field.value += letter;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  const spent = performance.now() - from;
  return new Promise((resolve) => requestAnimationFrame((at) => setTimeout(() => resolve(Math.max(spent, at - from)))));
}

/** Lines of many long runs in one chart, and the pointer over them. */
const manyLines: Case = async ({ scene, data: { lines } }, rounds) => {
  const [moves, heap]: [number[], number[]] = [[], []];
  const chart = chartOf(`${lines.runs} lines`, lines.key);
  const drawn = await openingFigure(
    () => scene.open(`/p/${lines.project}?first=${lines.runs}`, chart),
    rounds * TIMES_A_ROUND,
    { name: questions.lines, note: "p95 800, better 300" },
    async ({ page }, time) => {
      if (time === 0) moves.push(...(await page.evaluate(movePointer, chart.selector)));
      heap.push(await heapOf(page));
    },
  );
  return [
    drawn,
    { name: "a move of the pointer over it", unit: "ms", values: moves, note: "p95 8" },
    { name: "memory of its page, values and buffers", unit: "MiB", values: heap, note: "100" },
  ];
};

/** What each move of the pointer takes: its handlers, and the callbacks of the frame that draws it. */
async function movePointer(selector: string): Promise<number[]> {
  const plot = document.querySelector(selector)!.parentElement!;
  const box = plot.getBoundingClientRect();
  const spent: number[] = [];
  for (let i = 0; i < 60; i += 1) {
    const at = { clientX: box.left + 60 + i * 5, clientY: box.top + 80 + (i % 7) * 10 };
    const from = performance.now();
    plot.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, ...at }));
    const handled = performance.now() - from;
    await new Promise<void>((resolve) => {
      requestAnimationFrame((begun) => {
        spent.push(handled + performance.now() - begun);
        setTimeout(resolve);
      });
    });
  }
  return spent;
}

async function heapOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  type Usage = { usedSize: number; backingStorageSize?: number };
  const { usedSize, backingStorageSize = 0 } = (await session.send("Runtime.getHeapUsage")) as Usage;
  return (usedSize + backingStorageSize) / 2 ** 20;
}

/** From the answer of a write to the chart that shows its point; requests of a page at rest. */
const livePoints: Case = async ({ scene, bench, data: { live } }, rounds) => {
  const write = (step: number): Promise<unknown> =>
    bench.api.post(`/runs/${live.runId}/metrics`, { step, metrics: { loss: 1 / step } });
  await write(1);
  await write(2);
  const { page, context } = await scene.open(`/p/${live.project}/r/${live.runId}`, chartOf(" line", "loss"));
  const values: number[] = [];
  await pause(1000);
  for (let i = 0; i < rounds * TIMES_A_ROUND; i += 1) {
    const step = 3 + i;
    await page.evaluate(noteWhenSeen, chartOf(`to step ${step},`, "loss"));
    await write(step);
    const from = await page.evaluate(() => performance.now());
    values.push(Math.max(0, (await seenAt(page)) - from));
    await pause(200 + ((i * 137) % 400));
  }
  let requests = 0;
  page.on("request", () => {
    requests += 1;
  });
  await pause(10_000);
  await context.close();
  return [
    { name: "a written point in the chart", unit: "ms", values, note: "p95 1,200, better 300" },
    { name: "requests a second of a page at rest", unit: "", values: [requests / 10], note: "1" },
  ];
};

/** The measurements by their names. */
export const webCases: readonly TrackerCase<OurPages>[] = [
  ["first rows", firstRows],
  ["jumps", jumps],
  ["many keys", manyKeys],
  ["many lines", manyLines],
  ["live points", livePoints],
];
