import { gzipSync } from "node:zlib";
import type { Browser, BrowserContext, Page, Request } from "playwright-core";
import { LAPTOP, type cookieOf } from "../../browser/browser.ts";
import { noteWhenSeen, seenAt, type Sight } from "./sight.ts";

/** A page that shows what was waited for. The caller closes its context. */
export type OpenedPage = {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Milliseconds from its request to the paint. */
  readonly ms: number;
  readonly traffic: Traffic;
};

/** What came over the wire until the paint. */
export type Traffic = {
  readonly requests: number;
  /** Those of scripts, for data. */
  readonly dataRequests: number;
  /** Bytes of the document, scripts and style sheets as the server sends them. */
  readonly codeBytes: number;
  /** The same where each file that the server does not compress is compressed with gzip. */
  readonly gzipBytes: number;
};

/** What a page has stored in the browser. */
export type StorageState = Awaited<ReturnType<BrowserContext["storageState"]>>;

/** Opens a page with an empty cache in a new context and waits until it shows something. */
export async function openUntilSeen(
  browser: Browser,
  {
    url,
    sight,
    cookies = [],
    storageState,
    waitMs,
  }: {
    readonly url: string;
    readonly sight: Sight;
    readonly cookies?: readonly ReturnType<typeof cookieOf>[];
    /** What the page has stored before. */
    readonly storageState?: StorageState;
    readonly waitMs?: number;
  },
): Promise<OpenedPage> {
  const context = await browser.newContext({
    viewport: LAPTOP,
    ...(storageState === undefined ? {} : { storageState }),
  });
  try {
    await context.addCookies([...cookies]);
    const page = await context.newPage();
    await page.addInitScript(noteWhenSeen, sight);
    const finished: Request[] = [];
    page.on("requestfinished", (request) => finished.push(request));
    await page.goto(url, { waitUntil: "commit" });
    const ms = await seenAt(page, waitMs);
    return { page, context, ms, traffic: await trafficOf(finished.slice()) };
  } catch (error) {
    await context.close();
    throw error;
  }
}

const isCode = (request: Request): boolean =>
  ["document", "script", "stylesheet"].includes(request.resourceType()) || /\.(?:js|css)$/.test(pathOf(request));
const isData = (request: Request): boolean => ["fetch", "xhr"].includes(request.resourceType()) && !isCode(request);
const pathOf = (request: Request): string => new URL(request.url()).pathname;

async function trafficOf(requests: readonly Request[]): Promise<Traffic> {
  const sizes = await Promise.all(requests.filter(isCode).map(codeSize));
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, size) => total + size, 0);
  return {
    requests: requests.length,
    dataRequests: requests.filter(isData).length,
    codeBytes: sum(sizes.map(({ sent }) => sent)),
    gzipBytes: sum(sizes.map(({ compressed }) => compressed)),
  };
}

async function codeSize(request: Request): Promise<{ sent: number; compressed: number }> {
  // The browser knows no size of a script that a worker has taken from the cache: it has come before.
  const sent = Math.max(0, (await request.sizes()).responseBodySize);
  const response = await request.response();
  const encoding = (await response?.headerValue("content-encoding")) ?? "identity";
  if (sent === 0 || response === null || encoding !== "identity") return { sent, compressed: sent };
  return { sent, compressed: gzipSync(await response.body()).length };
}
