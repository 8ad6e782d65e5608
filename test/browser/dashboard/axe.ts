import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { expect } from "@jest/globals";
import type { WatchedPage } from "../browser.ts";

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
