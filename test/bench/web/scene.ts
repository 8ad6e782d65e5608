import { requireChromium } from "@tidemark/testkit";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { LAPTOP, signInWithKey, startChromium } from "../../browser/browser.ts";
import type { BenchStack } from "../bench-stack.ts";

declare global {
  interface Window {
    /** When the last thing that was waited for had been painted, in milliseconds since the page was opened. */
    seenAt: number | undefined;
  }
}

/** What the measurements of pages work with. */
export type WebScene = {
  readonly browser: Browser;
  /** Opens a page with an empty cache and measures how long it takes until an element is painted. The caller closes its context. */
  readonly open: (path: string, selector: string) => Promise<OpenedPage>;
};

/** A page that shows what was waited for. */
export type OpenedPage = {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Milliseconds from its request to the paint. */
  readonly ms: number;
  readonly traffic: Traffic;
};

/** What came over the wire until the paint: requests of the API, and bytes of scripts and style sheets. */
export type Traffic = { readonly requests: number; readonly codeBytes: number };

const WAIT_MS = 120_000;

/** Starts a Chromium that is signed in with the key of the bench. @throws Error where there is no Chromium */
export async function openWebScene(bench: BenchStack): Promise<WebScene> {
  const executable = await requireChromium("the benchmark of pages");
  if (executable === undefined) throw new Error("there is no Chromium");
  const { baseUrl } = bench.stack;
  const cookie = await signInWithKey(baseUrl, bench.key);
  const browser = await startChromium(executable);
  return {
    browser,
    async open(path, selector) {
      const context = await browser.newContext({ viewport: LAPTOP });
      await context.addCookies([cookie]);
      const page = await context.newPage();
      await page.addInitScript(noteWhenSeen, selector);
      const sizes: Promise<number>[] = [];
      let requests = 0;
      page.on("requestfinished", (request) => {
        const { pathname } = new URL(request.url());
        if (/^\/(?:api|runs|projects|metrics)\b/.test(pathname)) requests += 1;
        if (/\.(?:js|css)$/.test(pathname))
          sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
      });
      await page.goto(`${baseUrl}${path}`, { waitUntil: "commit" });
      const ms = await seenAt(page);
      const bytes = await Promise.all(sizes);
      return { page, context, ms, traffic: { requests, codeBytes: bytes.reduce((sum, size) => sum + size, 0) } };
    },
  };
}

/** Resolves with when the page has painted what it waits for. */
export async function seenAt(page: Page): Promise<number> {
  const handle = await page.waitForFunction(() => window.seenAt, undefined, { timeout: WAIT_MS, polling: 20 });
  return (await handle.jsonValue()) as number;
}

/** Runs in the page: notes when an element is there and the frame after it has begun, which is when it has been painted. */
export function noteWhenSeen(selector: string): void {
  window.seenAt = undefined;
  const look = (): void => {
    if (document.querySelector(selector) === null) return;
    observer.disconnect();
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        window.seenAt = performance.now();
      }),
    );
  };
  const observer = new MutationObserver(look);
  observer.observe(document, { childList: true, subtree: true, attributes: true });
  look();
}
