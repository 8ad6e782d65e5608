import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { keepColumn } from "../columns/kept-columns.fixture.ts";
import { callAs, startRuns, type RunsFixture } from "../runs.fixture.ts";
import { storeMeasured, storedRun, type MeasuredRun } from "./stored-runs.fixture.ts";

let fixture: RunsFixture;
const call = callAs();

/** Runs of the large project; one of nine runs belongs to another project. */
const RUNS = 1300;
const KEY = "loss";

beforeAll(async () => {
  fixture = await startRuns();
  const runs = Array.from({ length: RUNS }, (_, n): MeasuredRun => ({
    ...storedRun({
      name: `run ${n}`,
      project: n % 9 === 8 ? "small" : "large",
      status: "finished",
      config: n % 11 === 10 ? "{}" : `{"x":${(n * 7919) % 101}}`,
      createdAt: new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString(),
    }),
    metrics: n % 13 === 12 ? {} : { [KEY]: (n * 7907) % 103 },
  }));
  await storeMeasured(fixture, call.orgId, runs);
  const control = callAs({ orgId: call.orgId, scopes: ["runs:control"] });
  for (const { id } of runs.slice(100, 130)) await fixture.client.deleteRun({ runId: id }, control);
  await keepColumn(fixture, call.orgId, "config.x", 500);
});
afterAll(() => fixture.close());

type Asked = { readonly sortBy: string; readonly sortDir: string; readonly project: string | undefined };

async function page({ sortBy, sortDir, project }: Asked, at: { offset: bigint } | { cursor: string }, limit: number) {
  const filter = project === undefined ? {} : { project };
  return fixture.client.summarizeRuns(
    { filter, order: { sortBy, metricKey: "", sortDir }, limit, selection: true, ...at },
    call,
  );
}

describe.each([undefined, "large"])("a page far down the list of project %s", (project) => {
  test.each([
    ["config.x", "asc"],
    ["config.x", "desc"],
    [`metrics.${KEY}.best`, "asc"],
    [`metrics.${KEY}.best`, "desc"],
    [`metrics.${KEY}.latest`, "desc"],
  ])("by %s %s has the runs that the pages before lead to", async (sortBy, sortDir) => {
    const asked = { sortBy, sortDir, project };
    const names: string[] = [];
    for (let cursor = ""; ;) {
      const { runs, nextCursor } = await page(asked, { cursor }, 200);
      names.push(...runs.map(({ run }) => run?.name ?? ""));
      if (nextCursor === "") break;
      cursor = nextCursor;
    }
    const visible = Array.from({ length: RUNS }, (_, n) => n).filter(
      (n) => (n < 100 || n >= 130) && (project === undefined || n % 9 !== 8),
    );
    expect(names.toSorted()).toEqual(visible.map((n) => `run ${n}`).toSorted());
    for (const offset of [999, 1000, 1037, names.length - 120, names.length - 3, names.length + 5]) {
      const { runs, total } = await page(asked, { offset: BigInt(offset) }, 40);
      expect(runs.map(({ run }) => run?.name)).toEqual(names.slice(offset, offset + 40));
      expect(Number(total)).toBe(names.length);
    }
  });
});
