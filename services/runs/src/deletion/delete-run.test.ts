import { testSql } from "@tidemark/testkit";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { CallerKind } from "@tidemark/proto/common/v1/common";

import { asOwner, callAs, failure, GRACE_DAYS, json, makeRun, startRuns, type RunsFixture } from "../runs.fixture.ts";

let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
});
afterAll(() => fixture.close());

/** The call of an admin of an organization who is signed in. */
const adminOf = (orgId: string, role = "admin") =>
  callAs({ orgId, kind: CallerKind.SESSION, role, userId: randomUUID() });

type Call = ReturnType<typeof callAs>;

/** Every way to find a run. */
async function whereFound(runId: string, name: string, call: Call): Promise<string[]> {
  const { client } = fixture;
  const found = async (where: string, looks: () => Promise<boolean>) => ((await looks()) ? [where] : []);
  const order = { sortBy: "created", metricKey: "m" };
  const one = (q: string) => ({ filter: { q }, order, limit: 10, offset: 0n });
  return [
    ...(await found("read", () =>
      client.getRun({ runId, metricLimit: 1 }, call).then(
        () => true,
        () => false,
      ),
    )),
    ...(await found("list", async () => (await client.listRuns(one(""), call)).runs.length > 0)),
    ...(await found("search", async () => (await client.listRuns(one(name), call)).runs.length > 0)),
    ...(await found("regex", async () => (await client.listRuns(one(`re:/${name}/`), call)).runs.length > 0)),
    ...(await found("summary", async () => (await client.summarizeRuns({ ...one(""), cursor: "" }, call)).total > 0n)),
    ...(await found("overview", async () => (await client.getOverview({ metricKey: "m" }, call)).totalRuns > 0n)),
    ...(await found("lineage", () =>
      client.getLineage({ runId }, call).then(
        () => true,
        () => false,
      ),
    )),
    ...(await found("comparison", () =>
      client.compareRuns({ runIds: [runId] }, call).then(
        () => true,
        () => false,
      ),
    )),
    ...(await found("change", () =>
      client.updateRun({ runId, notes: "n" }, call).then(
        () => true,
        () => false,
      ),
    )),
  ];
}

const EVERYWHERE = ["read", "list", "search", "regex", "summary", "overview", "lineage", "comparison", "change"];

describe("a deleted run", () => {
  test("is found nowhere until it is restored, as it was", async () => {
    const call = callAs();
    const name = "unmistakable";
    const made = await makeRun(fixture.client, call, { name, tags: ["t"], configJson: json('{"lr":0.1}') });
    expect(await whereFound(made.id, name, call)).toEqual(EVERYWHERE);
    const before = (await fixture.client.getRun({ runId: made.id, metricLimit: 1 }, call)).run!.run!;
    const { run } = await fixture.client.deleteRun({ runId: made.id }, call);
    expect(run).toMatchObject({ id: made.id, name, tags: ["t"] });
    const { deletedAt, purgeAfter } = run!.deletion!;
    expect(Date.parse(purgeAfter) - Date.parse(deletedAt)).toBe(GRACE_DAYS * 86_400_000);
    expect(await whereFound(made.id, name, call)).toEqual([]);
    const restored = await fixture.client.undeleteRun({ runId: made.id }, call);
    expect(restored.run).toEqual(before);
    expect(await whereFound(made.id, name, call)).toEqual(EVERYWHERE);
  });

  test("is answered the same when it is deleted again, and a live one when it is restored", async () => {
    const call = callAs();
    const { id: runId } = await makeRun(fixture.client, call);
    const live = await fixture.client.undeleteRun({ runId }, call);
    expect(live.run!.deletion).toBeUndefined();
    const first = await fixture.client.deleteRun({ runId }, call);
    expect(await fixture.client.deleteRun({ runId }, call)).toEqual(first);
  });

  test("leaves the counters of its project, and the quota counts it", async () => {
    const call = callAs();
    const { id: runId, projectId } = await makeRun(fixture.client, call);
    await makeRun(fixture.client, call);
    await fixture.client.updateRun({ runId, status: "failed" }, call);
    const counters = async () =>
      (
        await asOwner(
          fixture,
          `SELECT runs_running::integer AS running, runs_failed::integer AS failed, runs_deleted::integer AS deleted
           FROM runs.projects WHERE id = $1`,
          [projectId],
        )
      )[0];
    expect(await counters()).toEqual({ running: 1, failed: 1, deleted: 0 });
    await fixture.client.deleteRun({ runId }, call);
    expect(await counters()).toEqual({ running: 1, failed: 0, deleted: 1 });
    expect((await fixture.client.getOverview({ metricKey: "m" }, call)).totalRuns).toBe(1n);
    const use = await fixture.db.withTenant(call.orgId, (tx) =>
      tx.rows(testSql("SELECT runs, projects FROM runs.usage_v1"), []),
    );
    expect(use).toEqual([{ runs: 2, projects: 1 }]);
    await fixture.client.undeleteRun({ runId }, call);
    expect(await counters()).toEqual({ running: 1, failed: 1, deleted: 0 });
  });

  test("keeps its id, which cannot be created or resumed", async () => {
    const call = callAs();
    const { id } = await makeRun(fixture.client, call, { id: randomUUID() });
    await fixture.client.deleteRun({ runId: id }, call);
    for (const mode of ["create", "auto", "resume"]) {
      expect(await failure(fixture.client.createRun({ id, mode }, call))).toMatchObject({ reason: "run_not_found" });
    }
    expect(await failure(fixture.client.createRun({ id }, callAs()))).toMatchObject({ reason: "run_not_found" });
  });

  test("cannot be restored after its time", async () => {
    const call = callAs();
    const { id: runId } = await makeRun(fixture.client, call);
    await fixture.client.deleteRun({ runId }, call);
    await asOwner(fixture, "UPDATE runs.runs SET purge_after = now() - interval '1 second' WHERE id = $1", [runId]);
    expect(await failure(fixture.client.undeleteRun({ runId }, call))).toMatchObject({ reason: "not_found" });
    expect(await failure(fixture.client.deleteRun({ runId }, call))).toMatchObject({ reason: "not_found" });
  });

  test("of another organization or project, or of no one, is not found", async () => {
    const call = callAs();
    const { id: runId } = await makeRun(fixture.client, call);
    const others = [callAs(), callAs({ orgId: call.orgId, projectId: randomUUID() })];
    for (const other of others) {
      for (const [id, by] of [
        [runId, other],
        [randomUUID(), call],
        ["x", call],
      ] as const) {
        expect(await failure(fixture.client.deleteRun({ runId: id }, by))).toMatchObject({ reason: "not_found" });
        expect(await failure(fixture.client.undeleteRun({ runId: id }, by))).toMatchObject({ reason: "not_found" });
      }
    }
    expect((await fixture.client.getRun({ runId, metricLimit: 1 }, call)).run!.run!.id).toBe(runId);
  });
});

test("a dry run changes nothing, and is not for a deleted run", async () => {
  const call = callAs();
  const { id: runId } = await makeRun(fixture.client, call);
  expect((await fixture.client.deleteRun({ runId, dryRun: true }, call)).run).toBeUndefined();
  expect((await fixture.client.getRun({ runId, metricLimit: 1 }, call)).run!.run!.id).toBe(runId);
  await fixture.client.deleteRun({ runId }, call);
  expect(await failure(fixture.client.deleteRun({ runId, dryRun: true }, call))).toMatchObject({ reason: "not_found" });
});

describe("the list of deleted runs", () => {
  const page = { order: { sortBy: "created", metricKey: "m" }, limit: 10, offset: 0n, deleted: true };

  test("has those that were deleted themselves, the newest first, for owners and admins", async () => {
    const call = callAs();
    const [first, , third] = [
      await makeRun(fixture.client, call, { project: "a" }),
      await makeRun(fixture.client, call, { project: "a" }),
      await makeRun(fixture.client, call, { project: "b" }),
    ];
    await fixture.client.deleteRun({ runId: first.id }, call);
    await fixture.client.deleteRun({ runId: third.id }, call);
    const list = async (filter: object, by = adminOf(call.orgId)) =>
      (await fixture.client.listRuns({ ...page, filter }, by)).runs.map(({ run }) => run!.id);
    expect(await list({})).toEqual([third.id, first.id]);
    expect(await list({}, adminOf(call.orgId, "owner"))).toHaveLength(2);
    expect(await list({ project: "a" })).toEqual([first.id]);
    expect(await list({ project: "c" })).toEqual([]);
    expect(await list({ status: "finished" })).toEqual([]);
    const { runs } = await fixture.client.listRuns({ ...page, limit: 1, offset: 1n }, adminOf(call.orgId));
    expect(runs.map(({ run }) => run!.id)).toEqual([first.id]);
    expect(runs[0]!.run!.deletion).toBeDefined();
  });

  test("is refused to keys, members and viewers", async () => {
    const call = callAs();
    for (const by of [call, adminOf(call.orgId, "member"), adminOf(call.orgId, "viewer")]) {
      expect(await failure(fixture.client.listRuns(page, by))).toMatchObject({ reason: "forbidden" });
    }
  });

  test.each([
    ["q", { filter: { q: "x" } }],
    ["stale", { filter: { stale: true } }],
    ["sort_by", { order: { sortBy: "name", metricKey: "m" } }],
  ])("takes no %s", async (field, change) => {
    const call = adminOf(randomUUID());
    expect(await failure(fixture.client.listRuns({ ...page, ...change }, call))).toMatchObject({
      reason: "bad_request",
      field,
    });
  });
});

test("deleting and restoring are in the audit log, once for each", async () => {
  const call = callAs();
  await asOwner(
    fixture,
    `INSERT INTO control.organizations (org_id, slug, name, plan_tier, billing_state, account_type, seat_limit)
     VALUES ($1::uuid, $1::text, 'o', 'free', 'free_active', 'business', 5)`,
    [call.orgId],
  );
  const { id: runId } = await makeRun(fixture.client, call);
  const admin = adminOf(call.orgId);
  await fixture.client.deleteRun({ runId }, admin);
  await fixture.client.deleteRun({ runId }, admin);
  await fixture.client.undeleteRun({ runId }, admin);
  await fixture.client.undeleteRun({ runId }, admin);
  const events = await asOwner(
    fixture,
    "SELECT actor_type, actor_id, action, target_type, target_id FROM control.audit_events WHERE org_id = $1 ORDER BY at",
    [call.orgId],
  );
  const by = { actor_type: "user", actor_id: admin.identity!.userId, target_type: "run", target_id: runId };
  expect(events).toEqual([
    { ...by, action: "run.deleted" },
    { ...by, action: "run.restored" },
  ]);
});
