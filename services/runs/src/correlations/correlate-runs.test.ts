import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { putAttributes, putAggregate } from "../metrics/ingested.fixture.ts";
import { callAs, failure, json, makeRun, startRuns, type RunsFixture } from "../runs.fixture.ts";
import { CORRELATED_COLUMNS_MAX, CORRELATED_RUNS_MAX } from "./correlate-runs.ts";

let fixture: RunsFixture;
const call = callAs();
const ids: string[] = [];
const LR = [1, 2, 3, 4, 5, 6];
const LOSS = [10, 20, 30, 40, 50, 45];

beforeAll(async () => {
  fixture = await startRuns();
  for (const [n, lr] of LR.entries()) {
    const config = { lr, opt: { wd: -lr, name: "x" }, fixed: 1, on: true, text: "1", list: [lr] };
    const run = await makeRun(fixture.client, call, {
      name: `r${n}`,
      project: n === 5 ? "q" : "p",
      configJson: json(JSON.stringify(config)),
    });
    ids.push(run.id);
    if (n < 3) {
      await putAttributes(fixture, call.orgId, run.id, [
        ["config/sdk/x", "99"],
        ["config/sdk/x", String(lr * lr)],
        ["config/lr", "7"],
        ["score", String(10 - lr)],
      ]);
    }
    const latest = LOSS[n]!;
    await putAggregate(fixture, call.orgId, run.id, "loss", { latest, min: -latest, max: latest * 2, mean: latest });
    if (n < 2) await putAggregate(fixture, call.orgId, run.id, "acc", { latest: n });
  }
  await makeRun(fixture.client, call, { name: "without", configJson: json('{"lr":1000}') });
  const foreign = await makeRun(fixture.client, callAs(), { configJson: json('{"lr":5}') });
  await putAggregate(fixture, foreign.orgId, foreign.id, "loss", { latest: 1 });
});
afterAll(() => fixture.close());

type Ask = { metric?: string; columns?: string[]; runIds?: string[]; filter?: { q?: string; project?: string } };
const ask = (request: Ask, who = call) => fixture.client.correlateRuns({ metric: "loss", ...request }, who);

/** Returns correlations with coefficients of three digits. */
async function found(request: Ask, who = call) {
  const { correlations } = await ask(request, who);
  const round = (value: number | undefined) => (value === undefined ? undefined : Math.round(value * 1000) / 1000 + 0);
  return correlations.map(({ column, runCount, pearson, spearman }) => [
    column,
    runCount,
    round(pearson),
    round(spearman),
  ]);
}

describe("correlations", () => {
  test("are those of the numbers of configs, the strongest first", async () => {
    const answer = await ask({ filter: {} });
    expect([answer.metric, answer.runCount]).toEqual(["metrics.loss.latest", 7]);
    expect(await found({ filter: {} })).toEqual([
      ["config.sdk.x", 3, 0.99, 1],
      ["config.lr", 6, 0.954, 0.943],
      ["config.opt.wd", 6, -0.954, -0.943],
      ["config.fixed", 6, undefined, undefined],
    ]);
  });

  test("are those of the columns that were named, in their order and under their names", async () => {
    const columns = [
      "attributes.score",
      "config.lr",
      "metrics.acc",
      "metrics.loss.best",
      "config.text",
      "config.nothing",
      "config.sdk.x",
      "metrics.loss.max",
    ];
    expect(await found({ filter: { project: "p" }, columns })).toEqual([
      ["attributes.score", 3, -1, -1],
      ["config.lr", 5, 1, 1],
      ["metrics.acc", 2, 1, 1],
      ["metrics.loss.best", 5, -1, -1],
      ["config.text", 0, undefined, undefined],
      ["config.nothing", 0, undefined, undefined],
      ["config.sdk.x", 3, 0.99, 1],
      ["metrics.loss.max", 5, 1, 1],
    ]);
  });

  test.each([
    ["loss.best", "metrics.loss.best", -1],
    ["metrics.loss.best", "metrics.loss.best", -1],
    ["loss.mean", "metrics.loss.mean", 1],
    ["loss", "metrics.loss.latest", 1],
  ])("are with the metric %s", async (metric, name, coefficient) => {
    expect((await ask({ metric, runIds: ids.slice(0, 5) })).metric).toBe(name);
    expect(await found({ metric, runIds: ids.slice(0, 5), columns: ["config.lr"] })).toEqual([
      ["config.lr", 5, coefficient, coefficient],
    ]);
  });

  test("are of the runs that a filter lets through, or that are named", async () => {
    const columns = ["config.lr"];
    expect(await found({ filter: { q: "config.lr<=2" }, columns })).toEqual([["config.lr", 2, 1, 1]]);
    expect(await found({ filter: { q: "name:re:/^r[0-2]$/" }, columns })).toEqual([["config.lr", 3, 1, 1]]);
    expect(await found({ filter: { q: "nothing" }, columns })).toEqual([["config.lr", 0, undefined, undefined]]);
    expect(await found({ filter: { q: "nothing" } })).toEqual([]);
    expect(await found({ runIds: [ids[4]!, ids[5]!], columns })).toEqual([["config.lr", 2, -1, -1]]);
    const scoped = callAs({ orgId: call.orgId, projectId: randomUUID() });
    expect((await ask({ filter: {} }, scoped)).runCount).toBe(0);
  });
});

test.each(["configs", "columns"])("correlations of %s end when their caller leaves", async (what) => {
  const columns = what === "columns" ? ["config.lr"] : [];
  const gone = { ...call, left: AbortSignal.abort() };
  expect(await failure(ask({ filter: {}, columns }, gone))).toMatchObject({ reason: "deadline_exceeded" });
});

describe("correlations are refused", () => {
  test("of runs that are not visible", async () => {
    const missing = { reason: "not_found" };
    expect(await failure(ask({ runIds: [ids[0]!, randomUUID()] }))).toMatchObject(missing);
    expect(await failure(ask({ runIds: [ids[0]!] }, callAs()))).toMatchObject(missing);
  });

  const uuids = (count: number) => Array.from({ length: count }, () => randomUUID() as string);
  test.each<[string, Ask, string]>([
    ["without a metric", { metric: "", filter: {} }, "metric"],
    ["with a metric without a key", { metric: "metrics.", filter: {} }, "metric"],
    [
      "with 301 columns",
      { filter: {}, columns: Array.from({ length: CORRELATED_COLUMNS_MAX + 1 }, (_, i) => `config.c${i}`) },
      "columns",
    ],
    ["of more than 10,000 named runs", { runIds: uuids(CORRELATED_RUNS_MAX + 1) }, "run_ids"],
    ["of a run without a UUID", { runIds: ["x"] }, "run_ids"],
    ["of a run that is named twice", { runIds: Array(2).fill(randomUUID()) as string[] }, "run_ids"],
  ])("%s", async (_what, request, field) => {
    expect(await failure(ask(request))).toMatchObject({ field });
  });
});
