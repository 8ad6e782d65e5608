import type { Browser, BrowserContext, Page } from "playwright-core";
import { LAPTOP, type cookieOf } from "../../browser/browser.ts";

declare global {
  interface Window {
    /** When the last thing that was waited for had been painted, in milliseconds since the page was opened. */
    seenAt: number | undefined;
  }
}

/** The content that a page has to show before it counts as shown. */
export type Sight = {
  readonly selector: string;
  /** Whether it is a canvas, which counts with a pixel that is not transparent. */
  readonly drawn?: boolean;
};

/** Opens pages of a server. */
export type Opener = {
  readonly browser: Browser;
  readonly baseUrl: string;
  readonly cookie: ReturnType<typeof cookieOf>;
};

/** A page that shows what was waited for; the caller closes the context. */
export type OpenedPage = { readonly page: Page; readonly context: BrowserContext; readonly ms: number };

const WAIT_MS = 120_000;

/** Resolves with the time when the page has painted the awaited content. @throws Error of the browser's driver after two minutes */
export async function seenAt(page: Page): Promise<number> {
  const handle = await page.waitForFunction(() => window.seenAt, undefined, { timeout: WAIT_MS, polling: 20 });
  return (await handle.jsonValue()) as number;
}

/** Opens a page with an empty cache in a new context and waits until it shows something. */
export async function openUntilSeen(opener: Opener, path: string, sight: Sight): Promise<OpenedPage> {
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
export function jumpTo(row: number): Promise<number> {
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
