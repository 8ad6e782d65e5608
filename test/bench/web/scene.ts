import type { Browser } from "playwright-core";
import { signInWithKey } from "../../browser/browser.ts";
import type { BenchStack } from "../bench-stack.ts";
import { openUntilSeen, type OpenedPage } from "./open-page.ts";
import type { Sight } from "./sight.ts";

/** What the measurements of our pages work with. */
export type WebScene = {
  /** Opens a page with an empty cache and measures how long it takes until something is painted. The caller closes its context. */
  readonly open: (path: string, sight: Sight) => Promise<OpenedPage>;
};

/** Signs in with the key of the bench. */
export async function openWebScene(browser: Browser, bench: BenchStack): Promise<WebScene> {
  const { baseUrl } = bench.stack;
  const cookies = [await signInWithKey(baseUrl, bench.key)];
  return { open: (path, sight) => openUntilSeen(browser, { url: `${baseUrl}${path}`, sight, cookies }) };
}
