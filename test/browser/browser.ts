import { chromium, type Browser, type BrowserContext, type Frame, type Page, type Request } from "playwright-core";

// As root there is no sandbox. What calls home by itself would wait for names that a machine without a network cannot look up.
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Starts a Chromium without windows, with a new profile that ends with it. */
export function startChromium(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, headless: true, args: FLAGS });
}

/** A page with what happened in it and its frames. */
export type WatchedPage = {
  readonly page: Page;
  /** Faults that the console tells, among them those of a policy, and errors that nothing caught. */
  readonly faults: string[];
  readonly requests: Request[];
};

/** Opens a page. */
export async function openPage(context: BrowserContext): Promise<WatchedPage> {
  const page = await context.newPage();
  const watched: WatchedPage = { page, faults: [], requests: [] };
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") watched.faults.push(message.text());
  });
  page.on("pageerror", (error) => watched.faults.push(String(error)));
  page.on("request", (request) => watched.requests.push(request));
  return watched;
}

/** Returns the one frame of a page. */
export function frameOf(page: Page): Frame {
  const [frame, ...more] = page.mainFrame().childFrames();
  if (frame === undefined || more.length > 0) throw new Error("the page must have one frame");
  return frame;
}
