import { afterAll, afterEach, beforeAll, beforeEach, expect } from "@jest/globals";
import { requireChromium } from "@tidemark/testkit";
import type { Browser, BrowserContext, Frame } from "playwright-core";
import type { Api } from "../stack/client.ts";
import { describeWith } from "../stack/describe-with.ts";
import { describeOwnModes } from "../stack/modes.ts";
import type { OwnStack } from "../stack/stack.ts";
import { frameOf, openPage, startChromium, type WatchedPage } from "./browser.ts";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

/** An embed session, and the address of its frame with the token. */
export type Made = { readonly id: string; readonly token: string; readonly address: string };

/** The context of a test of embedded views; everything except the stack is new in each test. */
export type Scene = {
  readonly stack: OwnStack;
  readonly context: BrowserContext;
  /** The page in which frames are shown. */
  readonly watched: WatchedPage;
  /** The site that embed sessions name, and one that they do not. */
  readonly portal: Portal;
  readonly stranger: Portal;
  /** Shows an address in a frame of the portal, or of another site. */
  readonly show: (address: string, site?: Portal) => Promise<Frame>;
};

const executable = await requireChromium("whether browsers show embedded views, and only where they may");

/** Declares tests that show embedded views in a browser, in both modes. Where there is none they are skipped, which the end of the run says. */
export function describeEmbeds(name: string, suite: (scene: () => Scene) => void): void {
  describeWith(executable)("in a browser", () => {
    let browser: Browser | undefined;
    let scene: Omit<Scene, "stack"> | undefined;
    beforeAll(async () => {
      browser = await startChromium(executable!);
    });
    afterAll(() => browser?.close());
    beforeEach(async () => {
      const [portal, stranger] = await Promise.all([startPortal("localhost"), startPortal("localhost")]);
      const context = await browser!.newContext();
      const watched = await openPage(context);
      const show = async (address: string, site = portal): Promise<Frame> => {
        await watched.page.goto(site.pageWith(address));
        return frameOf(watched.page);
      };
      scene = { context, watched, portal, stranger, show };
    });
    afterEach(async () => {
      await Promise.all([scene?.context.close(), scene?.portal.close(), scene?.stranger.close()]);
    });
    // The least that a level of the log leaves out is what it must not hold.
    const options = { settings: { TIDEMARK_LOG_LEVEL: "debug" } };
    describeOwnModes(name, (stack) => suite(() => ({ ...scene!, stack: stack() })), options);
  });
}

/** Makes a run with the values of some metrics from step 0 on. */
export async function newRun(
  api: Api,
  name: string,
  metrics: Readonly<Record<string, readonly number[]>> = {},
): Promise<string> {
  const { id } = (await api.post("/runs", { project: "p", name })).json.run as { id: string };
  const steps = Math.max(0, ...Object.values(metrics).map((values) => values.length));
  const points = Array.from({ length: steps }, (_, step) => ({
    step,
    metrics: Object.fromEntries(Object.entries(metrics).map(([key, values]) => [key, values[step]!])),
  }));
  if (steps > 0) expect((await api.post(`/runs/${id}/metrics/batch`, { points })).status).toBe(200);
  return id;
}

/** Makes an embed session of runs. */
export async function newEmbed(api: Api, runIds: readonly string[], origin: string, options = {}): Promise<Made> {
  const body = { run_ids: runIds, allowed_parent_origin: origin, options };
  const { status, json } = await api.post("/api/embed/sessions", body);
  expect(status).toBe(200);
  return { id: json.embed_session.id, token: json.embed_token, address: json.embed_session.iframe_src };
}

/** A third-party site that shows frames. */
export type Portal = {
  /** As a browser names it. */
  readonly origin: string;
  /** Headers of the requests that it received. */
  readonly received: IncomingHttpHeaders[];
  /** Returns the address of a page that shows this address in a frame. */
  pageWith(address: string): string;
  close(): Promise<void>;
};

/** Starts a site on a free port under this name of the machine. */
async function startPortal(host: "localhost" | "127.0.0.1"): Promise<Portal> {
  const frames: string[] = [];
  const received: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    received.push(request.headers);
    const frame = frames[Number(request.url?.slice(1))];
    if (frame === undefined) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
    response.end(
      `<!doctype html><title>Portal</title><link rel="icon" href="data:,"><style>body{margin:0}iframe{border:0;width:100%;height:98vh}</style><iframe src="${frame}"></iframe>`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://${host}:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    received,
    pageWith: (address) => `${origin}/${frames.push(address) - 1}`,
    close() {
      server.closeAllConnections();
      return new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}
