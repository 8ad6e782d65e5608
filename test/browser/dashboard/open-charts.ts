import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { openPage, type WatchedPage } from "../browser.ts";

const web = join(import.meta.dirname, "../../../web");

/** The page of charts alone, bundled. */
export type ChartsPage = { readonly script: Buffer; readonly style: Buffer };

/** Bundles the page of charts alone. */
export async function bundleCharts(): Promise<ChartsPage> {
  const directory = await mkdtemp(join(tmpdir(), "tidemark-charts-"));
  try {
    const options = [
      "--bundle",
      "--format=esm",
      "--jsx=automatic",
      "--jsx-import-source=preact",
      `--outdir=${directory}`,
    ];
    await promisify(execFile)(join(web, "node_modules/.bin/esbuild"), ["src/charts/harness.fixture.tsx", ...options], {
      cwd: web,
    });
    const [script, style] = await Promise.all(
      ["js", "css"].map((extension) => readFile(join(directory, `harness.fixture.${extension}`))),
    );
    return { script: script!, style: style! };
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** A run as the page gets it. */
export type ShownRun = {
  readonly id: string;
  readonly name: string;
  readonly startedAt: string;
  readonly running: boolean;
  readonly forkStep?: number;
};

/** The content of the page of charts, its server and its user. */
export type Shown = {
  readonly baseUrl: string;
  readonly key: string;
  readonly project: { readonly id: string; readonly name: string };
  readonly runs: readonly ShownRun[];
  readonly live?: boolean;
  /** The state in the address, with its question mark. */
  readonly query?: string;
  readonly theme?: "light" | "dark";
  readonly context?: BrowserContextOptions;
};

// As the dashboard has it.
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:; require-trusted-types-for 'script'";

/** Opens the page of charts alone, at an address of the server, with the policy of the dashboard. Requests go to the server with the key. */
export async function openCharts(browser: Browser, { script, style }: ChartsPage, shown: Shown): Promise<WatchedPage> {
  const { baseUrl, key, project, runs, live = false, query = "", theme = "light", context: options = {} } = shown;
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, colorScheme: theme, ...options });
  const given = JSON.stringify({ project, runs, live }).replaceAll("<", String.raw`\u003c`);
  const html = `<!doctype html><html lang="en" data-theme="${theme}"><title>Charts</title><meta name="viewport" content="width=device-width"><link rel="stylesheet" href="/charts.css"><script type="application/json" id="given">${given}</script><div id="app"></div><script type="module" src="/charts.js"></script></html>`;
  const bodies: Readonly<Record<string, readonly [string, Buffer | string]>> = {
    "/charts": ["text/html", html],
    "/charts.js": ["text/javascript", script],
    "/charts.css": ["text/css", style],
  };
  await context.route("**/*", async (route) => {
    const found = bodies[new URL(route.request().url()).pathname];
    if (found !== undefined) {
      const headers = { "content-security-policy": POLICY };
      await route.fulfill({ contentType: `${found[0]}; charset=utf-8`, body: found[1], headers });
      return;
    }
    await route.continue({ headers: { ...route.request().headers(), authorization: `Bearer ${key}` } });
  });
  const watched = await openPage(context);
  await watched.page.goto(`${baseUrl}/charts${query}`);
  return watched;
}
