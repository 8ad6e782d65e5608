import type { Page } from "playwright-core";

declare global {
  interface Window {
    /** When the last thing that was waited for had been painted, in milliseconds since the page was opened. */
    seenAt: number | undefined;
  }
}

/** What a page has to show before it counts as shown; the same for all trackers. */
export type Sight = {
  readonly selector: string;
  /** How many elements; one unless it is said. */
  readonly count?: number;
  /** Only elements whose whole text fits this regular expression count. */
  readonly text?: string;
  /** Only a canvas with a pixel that is not transparent counts, or a path with a course. */
  readonly drawn?: "canvas" | "path";
};

const WAIT_MS = 120_000;

/** Resolves with when the page has painted what it waits for. @throws Error of the browser's driver after `waitMs` */
export async function seenAt(page: Page, waitMs = WAIT_MS): Promise<number> {
  const handle = await page.waitForFunction(() => window.seenAt, undefined, { timeout: waitMs, polling: 20 });
  return (await handle.jsonValue()) as number;
}

/**
 * Runs in the page: looks before each frame whether it shows what is waited for, and notes when the frame after has begun,
 * because by then the frame with it has been painted.
 */
export function noteWhenSeen({ selector, count = 1, text, drawn }: Sight): void {
  const scratch = drawn === "canvas" ? document.createElement("canvas") : undefined;
  const hasPixels = (canvas: HTMLCanvasElement): boolean => {
    if (scratch === undefined || canvas.width === 0 || canvas.height === 0) return false;
    [scratch.width, scratch.height] = [canvas.width, canvas.height];
    const context = scratch.getContext("2d", { willReadFrequently: true })!;
    context.drawImage(canvas, 0, 0);
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
    for (let alpha = 3; alpha < data.length; alpha += 4) if (data[alpha] !== 0) return true;
    return false;
  };
  const counts = (element: Element): boolean => {
    if (text !== undefined && !new RegExp(`^(?:${text})$`).test(element.textContent.trim())) return false;
    if (drawn === "canvas") return hasPixels(element as HTMLCanvasElement);
    return drawn !== "path" || (element.getAttribute("d")?.length ?? 0) > 10;
  };
  window.seenAt = undefined;
  const look = (): void => {
    const found = [...document.querySelectorAll(selector)];
    if (found.length < count || found.filter(counts).length < count) requestAnimationFrame(look);
    else
      requestAnimationFrame(() => {
        window.seenAt = performance.now();
      });
  };
  requestAnimationFrame(look);
}
