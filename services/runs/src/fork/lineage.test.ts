import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { putAggregate } from "../metrics/ingested.fixture.ts";
import { asOwner, callAs, failure, makeRun, startRuns, type RunsFixture } from "../runs.fixture.ts";
import { listRelatives } from "./lineage.sql.ts";

let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
});
afterAll(() => fixture.close());

type Call = ReturnType<typeof callAs>;

const lineage = (call: Call, runId: string) => fixture.client.getLineage({ runId }, call);
const forkOf = async (call: Call, runId: string): Promise<string> => {
  const { run } = await fixture.client.forkRun({ runId }, call);
  return run?.run?.id ?? "";
};
const idsOf = (runs: readonly { readonly run?: { readonly id: string } | undefined }[]) =>
  runs.map(({ run }) => run?.id);

test("a run without relatives stands alone", async () => {
  const call = callAs();
  const run = await makeRun(fixture.client, call);
  const answer = await lineage(call, run.id);
  expect(answer).toMatchObject({ run: { run: { id: run.id } }, children: [], childrenTotal: 0n, limit: 100 });
  expect(answer.parent).toBeUndefined();
});

test("parent and children are summaries, the newest child first", async () => {
  const call = callAs();
  const top = await makeRun(fixture.client, call);
  const middle = await forkOf(call, top.id);
  const children = [await forkOf(call, middle), await forkOf(call, middle), await forkOf(call, middle)];
  const grandchild = await forkOf(call, children[0] ?? "");
  await putAggregate(fixture, call.orgId, middle, "loss", { latest: 0.5, min: 0.25, max: 1, count: 4 });
  await putAggregate(fixture, call.orgId, children[2] ?? "", "loss", { latest: 7 });
  await fixture.client.updateRun({ runId: top.id, status: "finished" }, call);
  await asOwner(
    fixture,
    `UPDATE runs.runs SET stop_state = 'requested', stop_request_id = id, stop_reason = 'secret', stop_actor = 'user'
     WHERE id = $1`,
    [children[1]],
  );

  const answer = await lineage(call, middle);
  expect(answer.run).toEqual((await fixture.client.getRun({ runId: middle, metricLimit: 1000 }, call)).run);
  expect(answer.run?.metrics).toMatchObject({ keys: ["loss"], latest: [0.5], min: [0.25], max: [1], count: [4] });
  expect(answer.parent).toMatchObject({ run: { id: top.id, status: "finished" }, metrics: { keys: [] } });
  expect(idsOf(answer.children)).toEqual(children.toReversed());
  expect(answer.childrenTotal).toBe(3n);
  expect(answer.children[0]?.metrics).toMatchObject({ keys: ["loss"], latest: [7] });
  expect(answer.children[1]?.runControl).toMatchObject({ stopState: "requested", displayStatus: "stopping" });
  expect(answer.children[1]?.runControl?.details).toBeUndefined();
  expect(JSON.stringify(idsOf([...answer.children, answer.run ?? {}]))).not.toContain(grandchild);
});

test("of more than 100 children the newest 100 are shown, all are counted", async () => {
  const call = callAs();
  const run = await makeRun(fixture.client, call);
  const oldest = await forkOf(call, run.id);
  for (let i = 0; i < 99; i += 1) await forkOf(call, run.id);
  expect(await lineage(call, run.id)).toMatchObject({ childrenTotal: 100n });
  expect(idsOf((await lineage(call, run.id)).children).at(-1)).toBe(oldest);
  const newest = await forkOf(call, run.id);
  const { children, childrenTotal } = await lineage(call, run.id);
  expect(children).toHaveLength(100);
  expect(children[0]?.run?.id).toBe(newest);
  expect(idsOf(children)).not.toContain(oldest);
  expect(childrenTotal).toBe(101n);
});

test("a run shows at most 250 metric keys", async () => {
  const call = callAs();
  const { id } = await makeRun(fixture.client, call);
  for (let i = 0; i < 251; i += 1) await putAggregate(fixture, call.orgId, id, `k${1000 + i}`, { latest: i });
  const { run } = await lineage(call, id);
  expect(run?.metrics?.keys).toHaveLength(250);
  expect(run?.metrics).toMatchObject({ keysTotal: 251n, nextCursor: "" });
});

describe("relatives outside a key's project", () => {
  test("are left out and not counted", async () => {
    const wide = callAs();
    const mine = await makeRun(fixture.client, wide, { project: "mine" });
    const theirs = await makeRun(fixture.client, wide, { project: "theirs" });
    const child = await forkOf(wide, mine.id);
    const moved = await forkOf(wide, theirs.id);
    // Forks stay in the project; runs that come from elsewhere need not.
    await asOwner(fixture, "UPDATE runs.runs SET parent_run_id = $2 WHERE id = ANY($1)", [[mine.id], theirs.id]);
    await asOwner(fixture, "UPDATE runs.runs SET parent_run_id = $2 WHERE id = $1", [moved, mine.id]);

    const scoped = callAs({ orgId: wide.orgId, projectId: mine.projectId });
    const seen = await lineage(scoped, mine.id);
    expect(seen.parent).toBeUndefined();
    expect(idsOf(seen.children)).toEqual([child]);
    expect(seen.childrenTotal).toBe(1n);
    const all = await lineage(wide, mine.id);
    expect(all.parent?.run?.id).toBe(theirs.id);
    expect(new Set(idsOf(all.children))).toEqual(new Set([child, moved]));
    expect(await failure(lineage(scoped, theirs.id))).toMatchObject({ reason: "not_found", message: "run not found" });
  });
});

describe("a run that cannot be seen", () => {
  test.each(["x", "", randomUUID()])("is 404: %j", async (runId) => {
    expect(await failure(lineage(callAs(), runId))).toMatchObject({ reason: "not_found", message: "run not found" });
  });

  test("is 404 for another organization, also where it is the parent of one's own", async () => {
    const [one, two] = [callAs(), callAs()];
    const foreign = await makeRun(fixture.client, one);
    const own = await makeRun(fixture.client, two);
    expect(await failure(lineage(two, foreign.id))).toMatchObject({ reason: "not_found" });
    await asOwner(fixture, "UPDATE runs.runs SET parent_run_id = $2 WHERE id = $1", [own.id, foreign.id]);
    expect((await lineage(two, own.id)).parent).toBeUndefined();
    expect(await lineage(one, foreign.id)).toMatchObject({ children: [], childrenTotal: 0n });
  });

  test("is not there by row level security alone", async () => {
    const [one, two] = [callAs(), callAs()];
    const { id } = await makeRun(fixture.client, one);
    await forkOf(one, id);
    const limits = { children: 100, metricKeys: 250 };
    const asked = (orgId: string) =>
      fixture.db.withTenant(two.orgId, (tx) => listRelatives(tx, orgId, id, undefined, limits));
    expect(await asked(one.orgId)).toEqual([]);
    expect(await asked(two.orgId)).toEqual([]);
  });
});
