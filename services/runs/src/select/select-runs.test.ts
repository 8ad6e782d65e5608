import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { callAs, json, makeRun, startRuns, type RunsFixture } from "../runs.fixture.ts";

let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
});
afterAll(() => fixture.close());

const byName = { sortBy: "name", metricKey: "" };

describe("runs that are named", () => {
  test("are returned in the order in which they were named, with their projects", async () => {
    const call = callAs();
    const [a, b, c] = [
      await makeRun(fixture.client, call, { name: "a", project: "one" }),
      await makeRun(fixture.client, call, { name: "b", project: "two" }),
      await makeRun(fixture.client, call, { name: "c", project: "one" }),
    ];
    const answer = await fixture.client.selectRuns({ runIds: [c.id, b.id, a.id], filter: { status: "failed" } }, call);
    expect(answer.runs.map(({ runId }) => runId)).toEqual([c.id, b.id, a.id]);
    expect(answer.runs.map(({ projectId }) => projectId)).toEqual([c.projectId, b.projectId, a.projectId]);
    expect(answer.projects.map(({ name }) => name)).toEqual(["one", "two"]);
    expect(answer.more).toBe(false);
  });

  test("are not found if one of them is not visible, or left out on request", async () => {
    const call = callAs();
    const own = await makeRun(fixture.client, call, { project: "p" });
    const foreign = await makeRun(fixture.client, callAs());
    const elsewhere = await makeRun(fixture.client, call, { project: "q" });
    const missing = { reason: "not_found" };
    await expect(fixture.client.selectRuns({ runIds: [own.id, foreign.id] }, call)).rejects.toMatchObject(missing);
    await expect(fixture.client.selectRuns({ runIds: [own.id, randomUUID()] }, call)).rejects.toMatchObject(missing);
    const scoped = callAs({ orgId: call.orgId, projectId: own.projectId });
    await expect(fixture.client.selectRuns({ runIds: [elsewhere.id] }, scoped)).rejects.toMatchObject(missing);
    await expect(fixture.client.readRuns({ runIds: [elsewhere.id] }, scoped)).rejects.toMatchObject(missing);
    await expect(fixture.client.readRuns({ runIds: [foreign.id] }, call)).rejects.toMatchObject(missing);
    const runIds = [foreign.id, elsewhere.id, randomUUID(), own.id];
    const found = await fixture.client.selectRuns({ runIds, skipMissing: true }, scoped);
    expect(found.runs.map(({ runId }) => runId)).toEqual([own.id]);
  });

  test.each([[["x"]], [Array.from({ length: 1001 }, () => randomUUID())], [Array(2).fill(randomUUID()) as string[]]])(
    "are different ids of a bounded number",
    async (runIds) => {
      await expect(fixture.client.selectRuns({ runIds }, callAs())).rejects.toMatchObject({ reason: "bad_request" });
    },
  );
});

describe("runs of a filter", () => {
  test("are the first ones of its order, and tell whether there are more", async () => {
    const call = callAs();
    for (const name of ["c", "a", "b"]) await makeRun(fixture.client, call, { name, project: "p" });
    await makeRun(fixture.client, call, { name: "0", project: "other" });
    const select = async (limit: number) => {
      const answer = await fixture.client.selectRuns({ filter: { project: "p" }, order: byName, limit }, call);
      const { runs } = await fixture.client.readRuns({ runIds: answer.runs.map(({ runId }) => runId) }, call);
      return [runs.map(({ name }) => name), answer.more, answer.projects.map(({ name }) => name)];
    };
    expect(await select(2)).toEqual([["a", "b"], true, ["p"]]);
    expect(await select(3)).toEqual([["a", "b", "c"], false, ["p"]]);
  });

  test("may be none", async () => {
    const answer = await fixture.client.selectRuns(
      { filter: { project: "nothing" }, order: byName, limit: 1 },
      callAs(),
    );
    expect(answer).toMatchObject({ runs: [], more: false, projects: [] });
  });

  test("need a known order and a valid search", async () => {
    const ask = (sortBy: string, q: string) =>
      fixture.client.selectRuns({ filter: { q }, order: { sortBy, metricKey: "" }, limit: 1 }, callAs());
    await expect(ask("size", "")).rejects.toMatchObject({ reason: "bad_request", field: "sort_by" });
    await expect(ask("name", "tag:re:/(/")).rejects.toMatchObject({ reason: "run_search_invalid", field: "q" });
  });
});

test("rows of runs are sent up to 4 MiB, and at least one, at a time", async () => {
  const call = callAs();
  const config = json(`{"a":"${"x".repeat(1_500_000)}"}`);
  const runs = [];
  for (let i = 0; i < 4; i++) runs.push(await makeRun(fixture.client, call, { configJson: config }));
  const rows = await fixture.client.readRuns({ runIds: runs.map(({ id }) => id) }, call);
  expect(rows.runs).toEqual(runs.slice(0, 2));
});
