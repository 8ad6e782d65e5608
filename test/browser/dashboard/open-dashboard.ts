import { afterAll, afterEach, beforeAll, expect } from "@jest/globals";
import { requireChromium } from "@tidemark/testkit";
import type { Browser, BrowserContext } from "playwright-core";
import type { Api } from "../../stack/client.ts";
import { describeWith } from "../../stack/describe-with.ts";
import { openBrowser, asOperator, createTeam, type Role, type Team } from "../../stack/people.ts";
import type { Mode, Stack } from "../../stack/attach.ts";
import { inSplitMode, withDashboard } from "../../stack/settings.ts";
import { sharedStack } from "../../stack/shared-stacks.ts";
import { cookieOf, LAPTOP, openPage, startChromium, type WatchedPage } from "../browser.ts";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

/** How the dashboard is opened. */
export type OpenOptions = {
  /** Default: the first page. */
  readonly path?: string;
  /** Who is signed in: a member of the team with this role (default: the owner), or "nobody". */
  readonly role?: Role | "nobody";
  /** Signed in with an API key of these scopes instead. */
  readonly scopes?: readonly string[];
  readonly theme?: "light" | "dark";
  readonly viewport?: { readonly width: number; readonly height: number };
};

/** The context of a dashboard test. The whole file shares the team and the browser; other files use the server as well. */
export type Scene = {
  readonly stack: Stack;
  readonly team: Team;
  /** A client of the team's organization with a key that may do everything with runs. */
  readonly api: Api;
  /** The session token of a member, for requests outside the page. */
  readonly tokenOf: (role: Role) => Promise<string>;
  /** Opens the dashboard in a separate browser, which ends with the test. */
  readonly open: (options?: OpenOptions) => Promise<WatchedPage>;
};

const SCOPES = ["sdk:ingest", "export:read", "runs:control", "artifacts:write", "imports:write"];

const executable = await requireChromium("the dashboard");

/** Declares tests of the dashboard in Chromium, over the server that all such tests share. Where there is no Chromium they are skipped. */
export function describeDashboard(name: string, suite: (scene: () => Scene) => void, mode: Mode = "embedded"): void {
  describeWith(executable)(name, () => {
    let scene: Scene | undefined;
    let browser: Browser | undefined;
    const contexts: BrowserContext[] = [];
    beforeAll(async () => {
      const [stack, started] = await Promise.all([
        (mode === "split" ? inSplitMode() : withDashboard()).then((settings) => sharedStack(mode, settings)),
        startChromium(executable!),
      ]);
      browser = started;
      scene = await createScene(stack, started, contexts);
    });
    afterEach(async () => {
      await Promise.all(contexts.splice(0).map((context) => context.close()));
    });
    afterAll(async () => {
      await browser?.close();
    });
    suite(() => {
      if (scene === undefined) throw new Error("the server did not start");
      return scene;
    });
  });
}

async function createScene(stack: Stack, browser: Browser, contexts: BrowserContext[]): Promise<Scene> {
  const team = await createTeam(stack);
  const keys = new Map<string, Promise<string>>();
  const keyWith = async (scopes: readonly string[]): Promise<string> => {
    const made = await stack.api.post(`/api/orgs/${team.orgId}/api-keys`, { name: "test", scopes }, asOperator(stack));
    expect(made.status).toBe(200);
    return made.json.api_key as string;
  };
  const key = (scopes: readonly string[]): Promise<string> => {
    const name = scopes.join(" ");
    keys.set(name, keys.get(name) ?? keyWith(scopes));
    return keys.get(name)!;
  };
  const members = new Map<Role, Promise<string>>();
  const tokenOf = (role: Role): Promise<string> => {
    const join = async (): Promise<string> => (role === "owner" ? team.owner : await team.join(role)).browser.token()!;
    members.set(role, members.get(role) ?? join());
    return members.get(role)!;
  };
  const tokenOfKey = async (scopes: readonly string[]): Promise<string> => {
    const own = openBrowser(stack.baseUrl);
    expect((await own.post("/api/auth/api-key", { api_key: await key(scopes) })).status).toBe(200);
    return own.token()!;
  };
  return {
    stack,
    team,
    api: stack.api.as(await key(SCOPES)),
    tokenOf,
    async open({ path = "/", role = "owner", scopes, theme = "light", viewport = LAPTOP } = {}) {
      const context = await browser.newContext({
        viewport,
        colorScheme: theme,
        reducedMotion: "reduce",
        permissions: ["clipboard-read", "clipboard-write"],
      });
      contexts.push(context);
      if (scopes !== undefined || role !== "nobody") {
        const value = scopes === undefined ? await tokenOf(role as Role) : await tokenOfKey(scopes);
        await context.addCookies([cookieOf(stack.baseUrl, value)]);
      }
      const watched = await openPage(context);
      await watched.page.goto(`${stack.baseUrl}${path}`);
      await settled(watched);
      return watched;
    },
  };
}

/** Waits until the page of the address is drawn, which nothing of it says that it still loads. */
export async function settled({ page }: Pick<WatchedPage, "page">): Promise<void> {
  await page.waitForSelector("#app main:not(:has([aria-busy=true]))");
}

/** Expects that a page met no fault, loaded nothing from another host, and is not wider than its window. */
export async function expectClean(watched: WatchedPage, stack: Pick<Stack, "baseUrl">): Promise<void> {
  expect(watched.faults).toEqual([]);
  const foreign = watched.requests.map((request) => request.url()).filter((url) => !isOwn(url, stack.baseUrl));
  expect(foreign).toEqual([]);
  expect(await sideways(watched)).toBe(0);
}

const isOwn = (url: string, baseUrl: string): boolean =>
  url.startsWith(`${baseUrl}/`) || url.startsWith("data:") || url.startsWith(`blob:${baseUrl}/`);

/** Returns by how many pixels a page can be scrolled sideways. */
export async function sideways({ page }: WatchedPage): Promise<number> {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return scrollWidth - clientWidth;
  });
}

const source = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

type Violation = {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
};

/** Expects that axe finds nothing in a page that WCAG 2.2 AA or good practice forbids; otherwise shows what and where. */
export async function expectAccessible({ page }: WatchedPage): Promise<void> {
  // A new document has lost it. Debuggers may run what the policy of the page forbids.
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(`${source};undefined`);
  const violations = await page.evaluate<Violation[]>(
    `axe.run(document, { resultTypes: ["violations"] }).then((result) => result.violations)`,
  );
  const told = violations.flatMap(({ id, help, nodes }) =>
    nodes
      .slice(0, 5)
      .map(({ html, failureSummary = "" }) => `${id}: ${help}\n  ${html.slice(0, 300)}\n  ${failureSummary}`),
  );
  expect(told).toEqual([]);
}
