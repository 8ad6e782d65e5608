import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { putAttributes, putValues } from "../metrics/ingested.fixture.ts";
import { asOwner, callAs, failure, json, makeRun, startRuns, type RunsFixture } from "../runs.fixture.ts";

let fixture: RunsFixture;
const call = callAs();
let projectId = "";
const ids: string[] = [];

type Ask = { prefix?: string; q?: string; kind?: string; runIds?: string[]; limit?: number; cursor?: string };

beforeAll(async () => {
  fixture = await startRuns();
  const configs = ['{"lr":1,"opt":{"name":"a","betas":[1]},"empty":{}}', '{"lr":2}', "{}"];
  for (const config of configs) {
    const run = await makeRun(fixture.client, call, { project: "p", configJson: json(config) });
    projectId = run.projectId;
    ids.push(run.id);
  }
  await putAttributes(fixture, call.orgId, ids[0]!, [
    ["note", "1"],
    ["note", "2"],
    ["config/lr", "1"],
  ]);
  await putAttributes(fixture, call.orgId, ids[2]!, [
    ["config/lr", "1"],
    ["config/sdk/x", "1"],
  ]);
  await putValues(fixture, call.orgId, ids[0]!, { loss: 1, "Val/Loss": 1 });
  await putValues(fixture, call.orgId, ids[1]!, { loss: 1, é: 1 });
  const other = await makeRun(fixture.client, call, { project: "q", configJson: json('{"elsewhere":1}') });
  await putValues(fixture, call.orgId, other.id, { elsewhere: 1 });
  const foreign = callAs();
  await makeRun(fixture.client, foreign, { project: "p", configJson: json('{"foreign":1}') });
});
afterAll(() => fixture.close());

const ALL = [
  "Val/Loss metric 1",
  "config/lr attribute 2",
  "config/sdk/x attribute 1",
  "empty config 1",
  "loss metric 2",
  "lr config 3",
  "note attribute 1",
  "opt.betas config 1",
  "opt.name config 1",
  "sdk.x config 1",
  "é metric 1",
];

/** Returns the keys of all pages. */
async function listed(ask: Ask = {}, limit = 100, of = projectId): Promise<string[]> {
  const keys: string[] = [];
  for (let cursor = ""; ;) {
    const page = await fixture.client.listKeys({ ...ask, projectId: of, limit, cursor }, call);
    expect(page.keys.length).toBeLessThanOrEqual(limit);
    keys.push(...page.keys.map(({ name, kind, runCount }) => `${name} ${kind} ${runCount}`));
    if (page.nextCursor === "") return keys;
    cursor = page.nextCursor;
  }
}

const named = (pattern: RegExp) => ALL.filter((key) => pattern.test(key));

describe("keys of a project", () => {
  test("are those of metrics, attributes and configs with the numbers of runs, page by page", async () => {
    expect(await listed()).toEqual(ALL);
    for (const limit of [1, 2, 3, 10, 11]) expect(await listed({}, limit)).toEqual(ALL);
  });

  test.each([
    ["metric", named(/ metric /)],
    ["attribute", named(/ attribute /)],
    ["config", named(/ config /)],
  ])("can be of one kind: %s", async (kind, keys) => {
    expect(await listed({ kind }, 2)).toEqual(keys);
  });

  test.each([
    ["", ALL],
    ["config/", named(/^config\//)],
    ["Val", named(/^Val/)],
    ["val", []],
    ["é", named(/^é/)],
    ["z", []],
  ])("can start with %j", async (prefix, keys) => {
    expect(await listed({ prefix }, 2)).toEqual(keys);
  });

  test.each([
    ["LOSS", named(/loss/i)],
    [" opt. ", named(/opt\./)],
    ["É", []],
    ["re:/x", []],
    ["re:/^l/", named(/^l/i)],
    [String.raw`re:/^config\/|o[pt]+\.n/`, [...named(/^config\//), "opt.name config 1"]],
    ["re:/^nothing$/", []],
  ])("can be searched for %j", async (q, keys) => {
    expect(await listed({ q }, 2)).toEqual(keys);
  });

  test("can be searched for, start with a text and be of a kind at the same time", async () => {
    expect(await listed({ q: "re:/r$/", prefix: "l", kind: "config" })).toEqual(["lr config 3"]);
    expect(await listed({ q: "r", prefix: "config/", kind: "attribute" })).toEqual(["config/lr attribute 2"]);
  });

  test("can be of some runs", async () => {
    expect(await listed({ runIds: [ids[1]!] }, 2)).toEqual(["loss metric 1", "lr config 1", "é metric 1"]);
    expect(await listed({ runIds: [ids[1]!, ids[0]!], kind: "metric", q: "re:/loss/" })).toEqual([
      "Val/Loss metric 1",
      "loss metric 2",
    ]);
  });

  test("are none of an empty project", async () => {
    const { project } = await fixture.client.createProject({ name: "empty" }, call);
    expect(await listed({}, 10, project?.id)).toEqual([]);
    expect(await listed({ q: "re:/a/" }, 10, project?.id)).toEqual([]);
  });
});

test("keys follow every change", async () => {
  const own = callAs();
  const run = await makeRun(fixture.client, own, { project: "p", configJson: json('{"a":1}') });
  const names = async (): Promise<string[]> => {
    const { keys } = await fixture.client.listKeys({ projectId: run.projectId, limit: 100 }, own);
    return keys.map(({ name, runCount }) => `${name} ${runCount}`);
  };
  expect(await names()).toEqual(["a 1"]);
  const second = await makeRun(fixture.client, own, { project: "p", configJson: json('{"a":1,"b":1}') });
  expect(await names()).toEqual(["a 2", "b 1"]);
  await putAttributes(fixture, own.orgId, run.id, [["c", "1"]]);
  expect(await names()).toEqual(["a 2", "b 1", "c 1"]);
  await fixture.client.deleteRun({ runId: second.id }, callAs({ orgId: own.orgId, scopes: ["runs:control"] }));
  expect(await names()).toEqual(["a 1", "c 1"]);
  await fixture.client.undeleteRun({ runId: second.id }, callAs({ orgId: own.orgId, scopes: ["runs:control"] }));
  expect(await names()).toEqual(["a 2", "b 1", "c 1"]);
});

describe("keys are refused", () => {
  const ask = (request: Ask & { projectId?: string }, who = call) =>
    failure(fixture.client.listKeys({ projectId, limit: 10, ...request }, who));

  test("of a project that is not visible, before any other fault", async () => {
    const missing = { reason: "not_found" };
    expect(await ask({ kind: "x" }, callAs())).toMatchObject(missing);
    expect(await ask({ projectId: randomUUID(), kind: "x" })).toMatchObject(missing);
    expect(await ask({ projectId: "x" })).toMatchObject(missing);
    expect(await ask({}, callAs({ orgId: call.orgId, projectId: randomUUID() }))).toMatchObject(missing);
  });

  test("of runs that are not in the project", async () => {
    const elsewhere = await makeRun(fixture.client, call, { project: "q" });
    for (const id of [elsewhere.id, randomUUID()]) {
      expect(await ask({ runIds: [ids[0]!, id] })).toMatchObject({ reason: "not_found" });
    }
  });

  test.each<[string, Ask, string]>([
    ["of an unknown kind", { kind: "metrics" }, "kind"],
    ["for a limit of 0", { limit: 0 }, "limit"],
    ["for a limit of 1001", { limit: 1001 }, "limit"],
    ["for a regular expression that is not valid", { q: "re:/(/" }, "q"],
    ["for a regular expression that matches the empty text", { q: "re:/a*/" }, "q"],
    ["for a regular expression of 129 bytes", { q: `re:/${"a".repeat(129)}/` }, "q"],
    ["for a regular expression that no text has", { q: "re:/a\0/" }, "q"],
    ["for a cursor of nothing", { cursor: "x" }, "cursor"],
    ["of 1001 runs", { runIds: Array.from({ length: 1001 }, () => randomUUID()) }, "run_ids"],
    ["of a run without a UUID", { runIds: ["x"] }, "run_ids"],
  ])("%s", async (_what, request, field) => {
    expect(await ask(request)).toMatchObject({ reason: "bad_request", field });
  });
});

test("a key that no column can have is not copied for each of the members that it has", async () => {
  const below = Array.from({ length: 2000 }, (_, n) => `"${n}":${n}`).join(",");
  const config = `{"${"k".repeat(400_000)}":{${below}},"lr":1}`;
  const names = "SELECT n.name FROM runs.config_names($1) AS n (name)";
  expect(await asOwner(fixture, names, [config])).toEqual([{ name: "lr" }]);
  const explain = `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${names}`;
  const [row] = await asOwner<{ "QUERY PLAN": string }>(fixture, explain, [config]);
  const [{ Plan: plan }] = JSON.parse(row!["QUERY PLAN"]) as [{ Plan: Record<string, number> }];
  // Pages of 8 KiB: the copies were 800 MB.
  expect(plan["Temp Written Blocks"]).toBeLessThan(1000);
});
