import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { callAs, startRuns, type RunsFixture } from "../runs.fixture.ts";
import { storedRun, storeRuns } from "./stored-runs.fixture.ts";

let fixture: RunsFixture;
const call = callAs();
const COUNT = 1100;
const start = Date.parse("2026-01-01T00:00:00Z");

/** Run n is the n-th from the newest. Every second one is common; few are rare: two of the newest thousand, and three beyond. */
const RARE = new Set([0, 999, 1000, 1050, 1099]);
const tagsOf = (n: number): string[] => [...(n % 2 === 0 ? ["common"] : []), ...(RARE.has(n) ? ["rare"] : [])];
const runs = Array.from({ length: COUNT }, (_, n) =>
  storedRun({ name: `run ${n}`, tags: tagsOf(n), createdAt: new Date(start - n * 1000).toISOString() }),
);

beforeAll(async () => {
  fixture = await startRuns();
  await storeRuns(fixture, call.orgId, runs);
});
afterAll(() => fixture.close());

async function listed(q: string, limit: number, offset = 0): Promise<string[]> {
  const order = { sortBy: "created", metricKey: "" };
  const page = await fixture.client.listRuns({ filter: { q }, order, limit, offset: BigInt(offset) }, call);
  return page.runs.map(({ run }) => run?.name ?? "");
}

const named = (numbers: Iterable<number>): string[] => [...numbers].map((n) => `run ${n}`);
const common = Array.from({ length: COUNT / 2 }, (_, i) => 2 * i);

test.each([
  ["fills a page from the newest runs", "tag:common", 100, 0, common.slice(0, 100)],
  ["fills a later page from the newest runs", "tag:common", 100, 300, common.slice(300, 400)],
  ["continues beyond them, with nothing twice and nothing left out", "tag:common", 100, 450, common.slice(450, 550)],
  ["finds what few runs have among all", "tag:rare", 10, 0, [...RARE]],
  ["finds the second part of it alone", "tag:rare", 10, 2, [1000, 1050, 1099]],
  ["stops at the limit when the newest suffice for it", "tag:rare", 2, 0, [0, 999]],
  ["finds what only an old run has", 'name:"run 1050"', 10, 0, [1050]],
  ["finds nothing", "tag:nobody", 10, 0, []],
  ["finds nothing behind the last run", "tag:common", 10, 550, []],
])("a search without a total %s", async (_what, q, limit, offset, numbers) => {
  expect(await listed(q, limit, offset)).toEqual(named(numbers));
});
