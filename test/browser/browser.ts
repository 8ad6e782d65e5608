import { isDeep, noteOnFailure, PATIENCE_MS } from "@tidemark/testkit";
import { setTimeout as pause } from "node:timers/promises";
import { openBrowser, sessionCookie } from "../stack/people.ts";
import { chromium, type Browser, type BrowserContext, type Frame, type Page, type Request } from "playwright-core";

// As root there is no sandbox. Features that call home would wait for names that a machine without a network cannot look up.
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
  return chromium.launch({ executablePath, headless: true, args: FLAGS, timeout: PATIENCE_MS });
}

/** The themes in which pages are looked at: both in a deep run. */
export const themes: readonly ("light" | "dark")[] = isDeep ? ["light", "dark"] : ["light"];

/** The size of a phone on which nothing may be wider than the screen. */
export const PHONE = { width: 390, height: 844 } as const;
/** The size of a laptop. */
export const LAPTOP = { width: 1440, height: 900 } as const;

/** The cookie by which a browser of ours is signed in. */
export function cookieOf(baseUrl: string, token: string) {
  return { name: sessionCookie, value: token, url: baseUrl, httpOnly: true, sameSite: "Lax" } as const;
}

/** Signs in with an API key. @throws Error where the key is refused */
export async function signInWithKey(baseUrl: string, key: string): Promise<ReturnType<typeof cookieOf>> {
  const own = openBrowser(baseUrl);
  const answer = await own.post("/api/auth/api-key", { api_key: key });
  if (answer.status !== 200) throw new Error(`no session: ${answer.status}`);
  return cookieOf(baseUrl, own.token()!);
}

/** A page with what happened in it and its frames. */
export type WatchedPage = {
  readonly page: Page;
  /** Faults reported on the console, including policy violations, and uncaught errors. */
  readonly faults: string[];
  readonly requests: Request[];
};

/** Opens a page. */
export async function openPage(context: BrowserContext): Promise<WatchedPage> {
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const watched: WatchedPage = { page, faults: [], requests: [] };
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") watched.faults.push(message.text());
  });
  page.on("pageerror", (error) => watched.faults.push(String(error)));
  page.on("request", (request) => watched.requests.push(request));
  page.on(
    "close",
    noteOnFailure(() => shownBy(watched)),
  );
  return watched;
}

/** How long a page may take to say what it shows, in milliseconds. */
const SHOWN_WITHIN_MS = 5000;

/** What a page shows, for the error of a test that fails. */
async function shownBy({ page, faults }: WatchedPage): Promise<string> {
  const shown = page.evaluate(() => ({
    focused: document.activeElement?.outerHTML.slice(0, 300),
    dialogs: [...document.querySelectorAll("dialog")].map((one) => `${one.open ? "open" : "closed"}: ${one.innerText}`),
    text: document.body.innerText.slice(0, 2000),
  }));
  const state = await Promise.race([shown, pause(SHOWN_WITHIN_MS, "it does not answer")]);
  return `The page at ${page.url()}: ${JSON.stringify({ state, faults }, undefined, 2)}`;
}

/** Returns the one frame of a page. */
export function frameOf(page: Page): Frame {
  const [frame, ...more] = page.mainFrame().childFrames();
  if (frame === undefined || more.length > 0) throw new Error("the page must have one frame");
  return frame;
}
