import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { putAggregate, putValues, indexSortValues } from "../metrics/ingested.fixture.ts";
import { asOwner, callAs, makeRun, startRuns, type RunsFixture } from "../runs.fixture.ts";
import { filterOf, type TestCall, type Filter } from "./list-pages.fixture.ts";
import { move, projectIdOf, storeRuns, storedRun, type Step, type StoredRun } from "./stored-runs.fixture.ts";

let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
});
afterAll(() => fixture.close());

const DEFAULT_KEY = "eval/return_mean";

async function overviewOf(call: TestCall, filter: Filter = {}, metricKey = DEFAULT_KEY) {
  const figures = await fixture.client.getOverview({ filter: filterOf(filter), metricKey }, call);
  return {
    total: Number(figures.totalRuns),
    active: Number(figures.activeRuns),
    failed: Number(figures.failedRuns),
    stopping: Number(figures.stoppingRuns),
    stopped: Number(figures.stoppedRuns),
    best: figures.bestValue,
    points: Number(figures.metricPoints),
  };
}

const nothing = { total: 0, active: 0, failed: 0, stopping: 0, stopped: 0, best: undefined, points: 0 };

type Aggregate = { min: number; max: number; count: number };
type Measured = StoredRun & { readonly metrics: Readonly<Record<string, Aggregate>> };

describe("the figures", () => {
  const call = callAs();
  const aggregate = (min: number, max: number, count: number): Aggregate => ({ min, max, count });
  const measured = (parts: Partial<StoredRun>, metrics: Record<string, Aggregate> = {}): Measured => ({
    ...storedRun(parts),
    metrics,
  });
  const runs: Measured[] = [
    measured({ tags: ["a"] }, { [DEFAULT_KEY]: aggregate(-3, 2, 10), loss: aggregate(0.5, 9, 3) }),
    measured({ shown: "stopping", project: "q" }, { [DEFAULT_KEY]: aggregate(1, 1, 1) }),
    measured(
      { status: "finished", tags: ["a", "b"] },
      { [DEFAULT_KEY]: aggregate(-8, 7.5, 1000), loss: aggregate(0.25, 1, 1) },
    ),
    measured({ status: "finished", shown: "stopped" }, { other: aggregate(0, 0, 7) }),
    measured(
      { status: "failed", project: "q", tags: ["b"] },
      { [DEFAULT_KEY]: aggregate(-2, -1, 4), loss: aggregate(-1, 5, 2) },
    ),
    measured({ status: "failed", shown: "stopped", project: "q" }, { [DEFAULT_KEY]: aggregate(0, 3, 6) }),
    measured({ status: "finished", project: "q", name: "empty" }),
    measured({ name: "empty" }),
  ];
  const passing: [what: string, filter: Filter, passes: (run: Measured) => boolean][] = [
    ["all runs", {}, () => true],
    ["a project", { project: "q" }, ({ project }) => project === "q"],
    ["no project", { project: "nowhere" }, () => false],
    ["running runs, stopping ones too", { status: "running" }, ({ status }) => status === "running"],
    ["finished runs, stopped ones too", { status: "finished" }, ({ status }) => status === "finished"],
    ["failed runs, stopped ones too", { status: "failed" }, ({ status }) => status === "failed"],
    ["stopped runs", { displayStatus: "stopped" }, ({ shown }) => shown === "stopped"],
    ["stopping runs", { displayStatus: "stopping" }, ({ shown }) => shown === "stopping"],
    ["an unknown state", { status: "paused" }, () => false],
    ["states that exclude each other", { status: "running", displayStatus: "stopped" }, () => false],
    [
      "failed runs that were stopped",
      { status: "failed", displayStatus: "stopped" },
      ({ status, shown }) => status === "failed" && shown === "stopped",
    ],
    ["a search", { q: "tag:a OR tag:b" }, ({ tags }) => tags.length > 0],
    ["a search that finds runs without metrics", { q: "name:empty" }, ({ name }) => name === "empty"],
    ["a search that finds nothing", { q: "tag:c" }, () => false],
    [
      "a search in a project",
      { q: "tag:b", project: "q" },
      ({ tags, project }) => tags.includes("b") && project === "q",
    ],
    [
      "a search in a state",
      { q: "-tag:b", status: "finished" },
      ({ tags, status }) => !tags.includes("b") && status === "finished",
    ],
  ];

  beforeAll(async () => {
    await storeRuns(fixture, call.orgId, runs);
    for (const { id, metrics } of runs) {
      for (const [key, { min, max, count }] of Object.entries(metrics)) {
        await putAggregate(fixture, call.orgId, id, key, { latest: max, min, max, count });
      }
    }
  });

  function expected(passes: (run: Measured) => boolean, metricKey: string) {
    const chosen = runs.filter(passes);
    const count = (is: (run: Measured) => boolean): number => chosen.filter(is).length;
    const metrics = chosen.flatMap((run) => Object.entries(run.metrics));
    const values = metrics
      .filter(([key]) => key === metricKey)
      .map(([, { min, max }]) => (metricKey === "loss" ? min : max));
    const best = metricKey === "loss" ? Math.min(...values) : Math.max(...values);
    return {
      total: chosen.length,
      active: count(({ status }) => status === "running"),
      failed: count(({ status }) => status === "failed"),
      stopping: count(({ shown }) => shown === "stopping"),
      stopped: count(({ shown }) => shown === "stopped"),
      best: values.length === 0 ? undefined : best,
      points: metrics.reduce((sum, [, { count: points }]) => sum + points, 0),
    };
  }

  async function check(): Promise<void> {
    for (const [what, filter, passes] of passing) {
      for (const metricKey of [DEFAULT_KEY, "loss", "other", "nobody/has"]) {
        expect({ what, metricKey, figures: await overviewOf(call, filter, metricKey) }).toEqual({
          what,
          metricKey,
          figures: expected(passes, metricKey),
        });
      }
    }
  }

  test("are those of the filter while no run is indexed", check);

  test("are the same when some are indexed, when all are, and when some are written again", async () => {
    const withMetrics = runs.filter(({ metrics }) => Object.keys(metrics).length > 0);
    await indexSortValues(
      fixture,
      call.orgId,
      withMetrics.filter((_run, n) => n % 2 === 1).map(({ id }) => id),
    );
    await check();
    await indexSortValues(
      fixture,
      call.orgId,
      withMetrics.filter((_run, n) => n % 2 === 0).map(({ id }) => id),
    );
    await check();
    // As a write does: the aggregate changes, and the run is no longer indexed.
    const [first] = runs;
    await asOwner(
      fixture,
      `WITH counted AS (UPDATE ingest.metric_runs SET point_count = point_count + 5 WHERE run_id = $1),
            counters AS (UPDATE ingest.project_points SET points = points + 5
                         WHERE project_id = (SELECT project_id FROM runs.runs WHERE id = $1)),
            changed AS (SELECT key_id FROM ingest.metric_keys WHERE run_id = $1 AND key = $2)
       UPDATE ingest.metric_aggregate_pages
       SET stats[key_id % 32 * 10 + 1] = stats[key_id % 32 * 10 + 1] + 5, stats[key_id % 32 * 10 + 6] = 70
       FROM changed WHERE run_id = $1 AND page = key_id / 32`,
      [first!.id, DEFAULT_KEY],
    );
    await asOwner(fixture, "INSERT INTO ingest.unindexed_runs (org_id, run_id, touched_minute) VALUES ($1, $2, 1)", [
      call.orgId,
      first!.id,
    ]);
    runs[0] = { ...first!, metrics: { ...first!.metrics, [DEFAULT_KEY]: aggregate(-3, 70, 15) } };
    await check();
    await indexSortValues(fixture, call.orgId, [first!.id]);
    await check();
  });

  test("are of the project with an id, and of a project-scoped key's own", async () => {
    const projectId = await projectIdOf(fixture, call.orgId, "q");
    const ofQ = expected(({ project }) => project === "q", DEFAULT_KEY);
    expect(await overviewOf(call, { projectId })).toEqual(ofQ);
    expect(await overviewOf(call, { projectId, project: "p" })).toEqual(nothing);
    expect(await overviewOf(call, { projectId: "q" })).toEqual(nothing);
    const scoped = callAs({ orgId: call.orgId, projectId });
    expect(await overviewOf(scoped)).toEqual(ofQ);
    expect(await overviewOf(scoped, { q: "tag:a OR tag:b" })).toMatchObject({ total: 1, best: -1, points: 6 });
    expect(await overviewOf(scoped, { project: "p" })).toEqual(nothing);
  });

  test("are nothing for another organization, with every filter", async () => {
    const stranger = callAs();
    for (const [, filter] of passing) expect(await overviewOf(stranger, filter)).toEqual(nothing);
    expect(await overviewOf(stranger, { projectId: await projectIdOf(fixture, call.orgId, "q") })).toEqual(nothing);
  });
});

describe("the best value", () => {
  const least = [
    "loss",
    "error",
    "err",
    "perplexity",
    "ppl",
    "wer",
    "cer",
    "mae",
    "mse",
    "rmse",
    "nll",
    "kl",
    "regret",
    "train/loss",
    "loss/train",
    "val_loss",
    "eval/word_err_rate",
    "TRAIN/Loss",
    "a/b_KL/c",
  ];
  const most = ["accuracy", "losses", "lossy", "terror", "train.loss", "train-loss", "klx", "eval/return_mean", "m ae"];
  const call = callAs();
  const runs = [storedRun(), storedRun()];

  beforeAll(async () => {
    await storeRuns(fixture, call.orgId, runs);
    for (const key of [...least, ...most]) {
      await putAggregate(fixture, call.orgId, runs[0]!.id, key, { latest: 2, min: -1.5, max: 3 });
      await putAggregate(fixture, call.orgId, runs[1]!.id, key, { latest: 2, min: -1, max: 2.5 });
    }
  });

  test("is the minimum where less is better and the maximum elsewhere, indexed or not", async () => {
    for (const indexed of [[], [runs[0]!.id], [runs[1]!.id]]) {
      await indexSortValues(fixture, call.orgId, indexed);
      for (const key of least) expect([key, (await overviewOf(call, {}, key)).best]).toEqual([key, -1.5]);
      for (const key of most) expect([key, (await overviewOf(call, {}, key)).best]).toEqual([key, 3]);
    }
  });

  test.each([
    ["zero", "score", 0, 0],
    ["zero of a loss", "loss", 0, 0],
    ["below zero by nothing", "loss", -0, 0],
    ["the greatest double", "score", Number.MAX_VALUE, Number.MAX_VALUE],
    ["the greatest double of a loss", "loss", Number.MAX_VALUE, Number.MAX_VALUE],
    ["the smallest double", "score", 5e-324, 5e-324],
    ["a sum that is not exact", "loss", 0.1 + 0.2, 0.1 + 0.2],
  ])("may be %s", async (_what, key, value, best) => {
    const own = callAs();
    const { id } = await makeRun(fixture.client, own);
    await putValues(fixture, own.orgId, id, { [key]: value });
    expect((await overviewOf(own, {}, key)).best).toBe(best);
    await indexSortValues(fixture, own.orgId, [id]);
    expect((await overviewOf(own, {}, key)).best).toBe(best);
  });
});

describe("immediately", () => {
  test("an organization without anything has zeros and no best value", async () => {
    expect(await overviewOf(callAs())).toEqual(nothing);
  });

  test("a run counts when it is created, and moves when its state does", async () => {
    const call = callAs();
    const id = randomUUID();
    await makeRun(fixture.client, call, { id });
    const steps: [Step, Partial<typeof nothing>][] = [
      [["running", "none"], { active: 1, failed: 0, stopping: 0, stopped: 0 }],
      [["running", "requested"], { active: 1, failed: 0, stopping: 1, stopped: 0 }],
      [["running", "acknowledged"], { active: 1, failed: 0, stopping: 1, stopped: 0 }],
      [["failed", "completed"], { active: 0, failed: 1, stopping: 0, stopped: 1 }],
      [["finished", "completed"], { active: 0, failed: 0, stopping: 0, stopped: 1 }],
      [["failed", "terminal_without_completion"], { active: 0, failed: 1, stopping: 0, stopped: 0 }],
      [["running", "terminal_without_completion"], { active: 1, failed: 0, stopping: 0, stopped: 0 }],
    ];
    for (const [step, figures] of steps) {
      await move(fixture, call.orgId, id, [step]);
      expect(await overviewOf(call)).toMatchObject({ total: 1, ...figures });
      expect(await overviewOf(call, { q: "-tag:x" })).toMatchObject({ total: 1, ...figures });
    }
  });

  test("values of runs in a project that has no indexed run count", async () => {
    const call = callAs();
    const { id } = await makeRun(fixture.client, call);
    await putAggregate(fixture, call.orgId, id, "k", { latest: 1, count: 41 });
    await putAggregate(fixture, call.orgId, id, "l", { latest: 1, count: 1 });
    expect(await overviewOf(call)).toMatchObject({ total: 1, points: 42, best: undefined });
  });
});
