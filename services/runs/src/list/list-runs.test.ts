import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { insertAggregates, putAggregate } from "../metrics/ingested.fixture.ts";
import { asOwner, callAs, failure, makeRun, startRuns, type RunsFixture } from "../runs.fixture.ts";

let fixture: RunsFixture;
const call = callAs();

type Seed = {
  name: string;
  project: string;
  status: string;
  stop?: string;
  /** Seconds that a finished run took. */
  took?: number;
  loss?: [latest: number, min: number, max: number];
};

// In the order of their creation.
const seeds: Seed[] = [
  { name: "delta", project: "p", status: "finished", took: 30, loss: [0.5, 0.1, 9] },
  { name: "alpha", project: "p", status: "running", loss: [0.9, 0.9, 0.9] },
  { name: "Beta", project: "q", status: "failed", took: 60, stop: "completed", loss: [0.5, 0.4, 8] },
  { name: "alpha", project: "q", status: "running", stop: "requested" },
  { name: "echo", project: "q", status: "failed", took: 10, stop: "terminal_without_completion" },
];

beforeAll(async () => {
  fixture = await startRuns();
  const stranger = callAs();
  await makeRun(fixture.client, stranger, { project: "p", name: "foreign" });
  for (const seed of seeds) {
    const { id } = await makeRun(fixture.client, call, { project: seed.project, name: seed.name });
    await asOwner(
      fixture,
      `UPDATE runs.runs SET status = $2, finished_at = CASE WHEN $2 <> 'running' THEN started_at + $3 * interval '1 second' END,
              stop_state = $4, stop_request_id = CASE WHEN $4 <> 'none' THEN id END WHERE id = $1`,
      [id, seed.status, seed.took ?? 0, seed.stop ?? "none"],
    );
    if (seed.loss !== undefined) {
      const [latest, min, max] = seed.loss;
      await putAggregate(fixture, call.orgId, id, "train/loss", { latest, min, max });
      await putAggregate(fixture, call.orgId, id, "score", { latest, min, max });
    }
  }
  // A running run that was finished once still has no duration.
  await asOwner(fixture, "UPDATE runs.runs SET finished_at = started_at + interval '1 hour' WHERE name = 'alpha'");
});
afterAll(() => fixture.close());

const base = { sortBy: "created", metricKey: "eval/return_mean", limit: 100 };
type Request = {
  q?: string;
  project?: string;
  status?: string;
  displayStatus?: string;
  sortBy?: string;
  metricKey?: string;
  limit?: number;
  offset?: bigint;
};
const ask = (request: Request = {}) => {
  const { sortBy, metricKey, limit, offset = 0n, ...filter } = { ...base, ...request };
  return { filter, order: { sortBy, metricKey }, limit, offset };
};
const list = async (request: Request = {}) => (await fixture.client.listRuns(ask(request), call)).runs;
const names = async (request: Request) => (await list(request)).map(({ run }) => `${run?.name} ${run?.project}`);

describe("order", () => {
  test.each([
    ["created: newest first", {}, ["echo q", "alpha q", "Beta q", "alpha p", "delta p"]],
    ["name, equal names newest first", { sortBy: "name" }, ["Beta q", "alpha q", "alpha p", "delta p", "echo q"]],
    [
      "status: by the status shown, then name",
      { sortBy: "status" },
      ["echo q", "delta p", "alpha p", "Beta q", "alpha q"],
    ],
    [
      "duration: longest first, running last",
      { sortBy: "duration" },
      ["Beta q", "delta p", "echo q", "alpha q", "alpha p"],
    ],
    [
      "latest value, equal ones newest first, runs without the metric last",
      { sortBy: "metric-latest", metricKey: "score" },
      ["alpha p", "Beta q", "delta p", "echo q", "alpha q"],
    ],
    [
      "best value is the maximum",
      { sortBy: "metric-best", metricKey: "score" },
      ["delta p", "Beta q", "alpha p", "echo q", "alpha q"],
    ],
    [
      "best value of a loss is the minimum",
      { sortBy: "metric-best", metricKey: "train/loss" },
      ["delta p", "Beta q", "alpha p", "echo q", "alpha q"],
    ],
    [
      "a metric that no run has: newest first",
      { sortBy: "metric-best", metricKey: "none" },
      ["echo q", "alpha q", "Beta q", "alpha p", "delta p"],
    ],
  ])("%s", async (_what, request, expected) => {
    expect(await names(request)).toEqual(expected);
  });

  test("the best of a loss is the least, of any other metric the most; the latest is what it is", async () => {
    const pair = callAs();
    for (const [name, value] of [
      ["low", 5],
      ["high", 6],
    ] as const) {
      const { id } = await makeRun(fixture.client, pair, { name });
      await putAggregate(fixture, pair.orgId, id, "a/loss", { latest: value });
      await putAggregate(fixture, pair.orgId, id, "a/gain", { latest: value });
    }
    const first = async (sortBy: string, metricKey: string) =>
      (await fixture.client.listRuns(ask({ sortBy, metricKey }), pair)).runs[0]?.run?.name;
    expect(await first("metric-best", "a/loss")).toBe("low");
    expect(await first("metric-best", "a/gain")).toBe("high");
    expect(await first("metric-latest", "a/loss")).toBe("high");
  });

  test("an unknown order is 400", async () => {
    expect(await failure(list({ sortBy: "size" }))).toMatchObject({ reason: "bad_request", field: "sort_by" });
  });
});

describe("filters", () => {
  test.each([
    ["project", { project: "p" }, ["alpha p", "delta p"]],
    ["an unknown project", { project: "nowhere" }, []],
    ["a project of another organization's name only", { project: "foreign" }, []],
    ["stored status", { status: "running" }, ["alpha q", "alpha p"]],
    ["an unknown status", { status: "paused" }, []],
    ["a display status is not a stored one", { status: "stopping" }, []],
    ["shown status stopping", { displayStatus: "stopping" }, ["alpha q"]],
    ["shown status running leaves stopping out", { displayStatus: "running" }, ["alpha p"]],
    ["shown status stopped", { displayStatus: "stopped" }, ["Beta q"]],
    ["shown status failed leaves stopped out", { displayStatus: "failed" }, ["echo q"]],
    ["an unknown shown status", { displayStatus: "x" }, []],
    ["a project that cannot be stored", { project: "p\0" }, []],
    ["a status that cannot be stored", { status: "running\0" }, []],
    ["a shown status that cannot be stored", { displayStatus: "running\0" }, []],
    ["a shown status that cannot be stored, with an expression", { displayStatus: "failed\0", q: "re:/a/" }, []],
    ["all together", { project: "q", status: "failed", displayStatus: "failed" }, ["echo q"]],
    [
      "all together by metric",
      { project: "q", status: "failed", sortBy: "metric-best", metricKey: "score" },
      ["Beta q", "echo q"],
    ],
    ["text that is SQL is text", { project: "p' OR '1'='1", status: "x'; DROP TABLE runs.runs; --" }, []],
  ])("%s", async (_what, request, expected) => {
    expect(await names(request)).toEqual(expected);
  });

  test("a project-scoped key lists its project in every order", async () => {
    const { projects } = await fixture.client.listProjects({ limit: 10 }, call);
    const scoped = callAs({ orgId: call.orgId, projectId: projects[0]?.id ?? "" });
    for (const sortBy of ["created", "name", "metric-best"]) {
      const { runs } = await fixture.client.listRuns(ask({ sortBy }), scoped);
      expect(new Set(runs.map(({ run }) => run?.project))).toEqual(new Set(["p"]));
    }
    expect((await fixture.client.listRuns(ask({ project: "q" }), scoped)).runs).toEqual([]);
  });
});

describe("pages", () => {
  test.each([0, 1001])("a limit of %d is 400", async (limit) => {
    expect(await failure(list({ limit }))).toMatchObject({ reason: "bad_request", field: "limit" });
  });
});

describe("summaries in lists", () => {
  test("carry aggregates, control without its texts, and zero counts", async () => {
    const [, , summary] = await list();
    expect(summary?.metrics).toMatchObject({
      keys: ["score", "train/loss"],
      latest: [0.5, 0.5],
      min: [0.4, 0.4],
      max: [8, 8],
      count: [1, 1],
      keysTotal: 2n,
      nextCursor: "",
    });
    expect(summary?.runControl).toMatchObject({
      stopState: "completed",
      displayStatus: "stopped",
      stopRequested: true,
    });
    expect(summary?.runControl?.details).toBeUndefined();
    expect(summary?.artifactCounts).toMatchObject({ checkpoint: 0n, rollout: 0n, file: 0n });
  });

  test("show the first 250 keys of a run and say how many there are", async () => {
    const many = callAs();
    const { id } = await makeRun(fixture.client, many);
    await asOwner(
      fixture,
      insertAggregates(`SELECT $1::uuid, $2::uuid, 'k' || lpad(n::text, 4, '0'), false, 1, n, 0, n, 0, n, 0, n, 0, 0
                   FROM generate_series(1, 300) n`),
      [many.orgId, id],
    );
    const { runs } = await fixture.client.listRuns(ask(), many);
    expect(runs[0]?.metrics?.keys).toHaveLength(250);
    expect(runs[0]?.metrics?.keys.at(-1)).toBe("k0250");
    expect(runs[0]?.metrics?.keysTotal).toBe(300n);
  });
});
