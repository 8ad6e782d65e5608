import { readFile } from "node:fs/promises";
import { expect } from "@jest/globals";
import type { Locator, Page } from "playwright-core";
import type { Api } from "../../stack/client.ts";
import type { ShownRun } from "./open-charts.ts";

const BATCH = 500;
/** Batches that are on their way at the same time. */
const AT_ONCE = 8;

/** Logs points of a metric to a new run of the project `charts`. */
export async function logPoints(
  api: Api,
  name: string,
  metric: string,
  points: readonly (readonly [step: number, value: number | "NaN" | "Infinity"])[],
  config: object,
): Promise<ShownRun> {
  const { run } = (await api.post("/runs", { project: "charts", name, config })).json as {
    run: { id: string; started_at?: string };
  };
  let from = 0;
  const send = async (): Promise<void> => {
    while (from < points.length) {
      const batch = points.slice(from, from + BATCH);
      from += BATCH;
      const body = { points: batch.map(([step, value]) => ({ step, metrics: { [metric]: value } })) };
      expect((await api.post(`/runs/${run.id}/metrics/batch`, body)).status).toBe(200);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, send));
  return { id: run.id, name, startedAt: run.started_at ?? new Date().toISOString(), running: true };
}

/** Where the data of a chart is in its picture, in pixels: it is drawn three pixels beyond the plot. */
export function plotIn(svg: string): Readonly<Record<"left" | "top" | "width" | "height", number>> {
  const [, x, y, w, h] = /<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"/.exec(svg)!.map(Number);
  return { left: x! + 3, top: y! + 3, width: w! - 6, height: h! - 6 };
}

/** Returns the topmost row of the line of a chart with a spike, and how many pixels lie between the spike and its place. */
export async function spikeIn(
  plot: Locator,
  left: number,
  spikeAt: number,
): Promise<{ readonly top: number; readonly off: number }> {
  // The first row of each column that is colored, be it pale: the tip of a spike lies between two columns. The axes are gray, with a little blue.
  const rows = await plot
    .locator("canvas")
    .first()
    .evaluate((canvas: HTMLCanvasElement) => {
      const { data, width, height } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
      return Array.from({ length: width }, (_, x) => {
        for (let y = 0; y < height; y++) {
          const [r, g, b, a] = data.subarray(4 * (y * width + x), 4 * (y * width + x) + 4);
          if (a! > 20 && Math.max(r!, g!, b!) - Math.min(r!, g!, b!) > 25) return y;
        }
        return height;
      });
    });
  const tops = rows.slice(Math.round(left));
  const top = Math.min(...tops);
  const [low, high] = (await plot.getAttribute("data-x"))!.split(" ").map(Number) as [number, number];
  const width = (await plot.boundingBox())!.width - 14 - left;
  // The flanks of the spike are pale as well, a bucket or two wide.
  return { top, off: Math.abs(tops.indexOf(top) - (width * (spikeAt - low)) / (high - low)) };
}

/** The card of a key. */
export const card = (page: Page, name: string): Locator => page.locator(`article[data-key="${name}"]`);

/** Returns the first metrics of the charts of a page, in their order. */
export async function cardKeys(page: Page): Promise<(string | null)[]> {
  return page.locator("article").evaluateAll((all) => all.map((one) => one.getAttribute("data-key")));
}

/** Waits until the chart of a key is drawn, and returns its plot. */
export async function drawn(page: Page, name: string): Promise<Locator> {
  const plot = card(page, name).locator(".tm-chart-plot[data-x]");
  await plot.scrollIntoViewIfNeeded();
  await plot.waitFor();
  await settled(page, name);
  return plot;
}

/** Waits until nothing is read for the chart of a key, and the frame with it is drawn. */
export async function settled(page: Page, name: string): Promise<void> {
  await page.waitForTimeout(100);
  await page.locator(`article[data-key="${name}"]:not([aria-busy])`).waitFor();
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
}

/** Chooses an item of the menu of a card. */
export async function choose(page: Page, name: string, item: string): Promise<void> {
  await card(page, name)
    .getByRole("button", { name: `More for ${name}` })
    .click();
  await page.locator(`[role^="menuitem"]`, { hasText: item }).click();
}

/** Puts two charts into a new section, the first by its settings, the second by dragging, and returns what the address says of it. */
export async function putTogether(page: Page, first: string, second: string): Promise<string | null> {
  await choose(page, first, "Settings…");
  const settings = page.getByRole("dialog", { name: `Settings of ${first}` });
  await settings.getByLabel("Section").fill("mine");
  await settings.getByRole("button", { name: "Done" }).click();
  await card(page, second)
    .locator("h3")
    .dragTo(page.getByRole("heading", { name: "mine 1" }));
  await page.getByRole("region", { name: "mine" }).getByRole("article").nth(1).waitFor();
  return new URL(page.url()).searchParams.get("moved");
}

/** Saves a chart as a file, and returns it. */
export async function savedBytes(page: Page, name: string, kind: "CSV" | "SVG" | "PNG"): Promise<Buffer> {
  const [download] = await Promise.all([page.waitForEvent("download"), choose(page, name, `Download ${kind}`)]);
  return readFile(await download.path());
}

/** Saves a chart as a file, and returns its text. */
export async function saved(page: Page, name: string, kind: "CSV" | "SVG"): Promise<string> {
  return (await savedBytes(page, name, kind)).toString();
}

/** The pixels of a chart as a text. */
export async function pixels(plot: Locator): Promise<string> {
  return plot
    .locator("canvas")
    .first()
    .evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL());
}

/** Numbers from 0 to 1 that are the same each time (mulberry32). */
export function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Reads a PNG in a page: how many colors it has, its size, and how opaque its first pixel is. */
export async function pictureOf(
  page: Page,
  png: Buffer,
): Promise<{ readonly colors: number; readonly size: readonly number[]; readonly corner: number | undefined }> {
  return page.evaluate(
    async (source) => {
      const image = new Image();
      image.src = source;
      await image.decode();
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [image.width, image.height];
      const context = canvas.getContext("2d")!;
      context.drawImage(image, 0, 0);
      const { data } = context.getImageData(0, 0, image.width, image.height);
      return {
        colors: new Set(new Uint32Array(data.buffer)).size,
        size: [image.width, image.height],
        corner: data[3],
      };
    },
    `data:image/png;base64,${png.toString("base64")}`,
  );
}
