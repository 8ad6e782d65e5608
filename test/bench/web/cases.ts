import { setTimeout as pause } from "node:timers/promises";
import type { Page } from "playwright-core";
import type { BenchStack } from "../bench-stack.ts";
import { noteWhenSeen, seenAt, type WebScene } from "./scene.ts";

/** What was measured of pages: a row of figures, which all have the unit of the row. */
export type WebFigure = {
  readonly name: string;
  readonly unit: "ms" | "KiB" | "MiB" | "";
  readonly values: readonly number[];
  readonly wanted: string;
};

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

type Case = (scene: WebScene, bench: BenchStack, data: WebData, times: number) => Promise<readonly WebFigure[]>;

const ROW = ".tm-grid-row .tm-run-link";
const DRAWN = '.tm-chart-plot[aria-label*=" line"]';

/** The first rows of a large project: with an empty cache, and opened again; what that takes over the wire. */
const firstRows: Case = async ({ open }, _bench, { many }, times) => {
  const [cold, warm, code, requests]: [number[], number[], number[], number[]] = [[], [], [], []];
  for (let i = 0; i < times; i += 1) {
    const { page, context, ms, traffic } = await open(`/p/${many.project}`, ROW);
    cold.push(ms);
    code.push(traffic.codeBytes / 1024);
    requests.push(traffic.requests);
    await page.reload({ waitUntil: "commit" });
    warm.push(await seenAt(page));
    await context.close();
  }
  const name = `first rows of ${many.runs.toLocaleString("en-US")} runs`;
  return [
    { name: `${name}, empty cache`, unit: "ms", values: cold, wanted: "p95 300" },
    { name: `${name}, opened again`, unit: "ms", values: warm, wanted: "p95 150" },
    { name: "JavaScript and CSS until then, compressed", unit: "KiB", values: code, wanted: "107" },
    { name: "requests of the API until then", unit: "", values: requests, wanted: "12" },
  ];
};

/** Jumps to rows far below, and frames while scrolling. */
const jumps: Case = async ({ open }, _bench, { many }, times) => {
  const { page, context } = await open(`/p/${many.project}?split=100`, ROW);
  const values: number[] = [];
  let most = 0;
  for (let i = 0; i < times; i += 1) {
    const row = Math.floor(many.runs * (0.9 - i * 0.03));
    values.push(await page.evaluate(jumpTo, row));
    most = Math.max(most, await page.locator('[role="row"]').count());
  }
  const frames = await page.evaluate(scrollSmoothly);
  await context.close();
  return [
    { name: "a jump to row 90,000 and others", unit: "ms", values, wanted: "p95 150" },
    { name: "rows in the document", unit: "", values: [most], wanted: "80" },
    { name: "a frame while scrolling", unit: "ms", values: frames, wanted: "p95 32" },
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
const manyKeys: Case = async ({ open }, _bench, { wide }, times) => {
  const [drawn, letters]: [number[], number[]] = [[], []];
  for (let i = 0; i < times; i += 1) {
    const { page, context, ms } = await open(`/p/${wide.project}/r/${wide.runId}`, DRAWN);
    drawn.push(ms);
    if (i === 0) {
      const field = page.getByRole("searchbox", { name: "Search metrics" });
      await field.focus();
      for (const letter of "layer_12") letters.push(await page.evaluate(typeLetter, letter));
    }
    await context.close();
  }
  return [
    {
      name: `charts of a run with ${wide.keys.toLocaleString("en-US")} keys`,
      unit: "ms",
      values: drawn,
      wanted: "p95 400",
    },
    { name: "a letter in the search of its keys", unit: "ms", values: letters, wanted: "16" },
  ];
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
const manyLines: Case = async ({ open }, _bench, { lines }, times) => {
  const [drawn, moves, heap]: [number[], number[], number[]] = [[], [], []];
  const plot = `[data-key="${lines.key}"] .tm-chart-plot[aria-label*="${lines.runs} lines"]`;
  for (let i = 0; i < times; i += 1) {
    const { page, context, ms } = await open(`/p/${lines.project}?first=100`, plot);
    drawn.push(ms);
    if (i === 0) moves.push(...(await page.evaluate(movePointer, plot)));
    heap.push(await heapOf(page));
    await context.close();
  }
  return [
    { name: `${lines.runs} runs of long series in a chart`, unit: "ms", values: drawn, wanted: "p95 800, better 300" },
    { name: "a move of the pointer over it", unit: "ms", values: moves, wanted: "p95 8" },
    { name: "heap of the page", unit: "MiB", values: heap, wanted: "100" },
  ];
};

/** What each move of the pointer takes: its handlers, and the callbacks of the frame that draws it. */
async function movePointer(selector: string): Promise<number[]> {
  const plot = document.querySelector<HTMLElement>(selector)!;
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
  const { usedSize } = (await session.send("Runtime.getHeapUsage")) as { usedSize: number };
  return usedSize / 2 ** 20;
}

/** From the answer of a write to the chart that shows its point; requests of a page at rest. */
const livePoints: Case = async ({ open }, bench, { live }, times) => {
  const write = (step: number): Promise<unknown> =>
    bench.api.post(`/runs/${live.runId}/metrics`, { step, metrics: { loss: 1 / step } });
  await write(1);
  await write(2);
  const { page, context } = await open(`/p/${live.project}/r/${live.runId}`, DRAWN);
  const values: number[] = [];
  await pause(1000);
  for (let i = 0; i < times; i += 1) {
    const step = 3 + i;
    await page.evaluate(noteWhenSeen, `[data-key="loss"] .tm-chart-plot[aria-label*="to step ${step},"]`);
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
    { name: "a written point in the chart", unit: "ms", values, wanted: "p95 1,200, better 300" },
    { name: "requests a second of a page at rest", unit: "", values: [requests / 10], wanted: "1" },
  ];
};

/** The measurements by their names. */
export const webCases: readonly (readonly [string, Case])[] = [
  ["first rows", firstRows],
  ["jumps", jumps],
  ["many keys", manyKeys],
  ["many lines", manyLines],
  ["live points", livePoints],
];
