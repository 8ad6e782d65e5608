import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { CallerKind } from "@tidemark/proto/common/v1/common";
import { asOwner, callAs, failure, GRACE_DAYS, makeRun, startRuns, type RunsFixture } from "../runs.fixture.ts";

let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
});
afterAll(() => fixture.close());

type Call = ReturnType<typeof callAs>;

const newest = { order: { sortBy: "created", metricKey: "m" }, limit: 1000, offset: 0n };
const listed = async (call: Call, q = "") =>
  (await fixture.client.listRuns({ ...newest, filter: { q } }, call)).runs.map(({ run }) => run!.id).toSorted();
const readable = (runId: string, call: Call) =>
  fixture.client.getRun({ runId, metricLimit: 1 }, call).then(
    () => true,
    () => false,
  );

/** A project with runs, and another one. */
async function twoProjects(runs = 2) {
  const call = callAs();
  const made = await Promise.all(
    Array.from({ length: runs }, () => makeRun(fixture.client, call, { project: "gone" })),
  );
  const other = await makeRun(fixture.client, call, { project: "stays" });
  return { call, projectId: made[0]!.projectId, runIds: made.map(({ id }) => id).toSorted(), other };
}

describe("a deleted project", () => {
  test("is found nowhere, and neither are its runs, until it is restored", async () => {
    const { call, projectId, runIds, other } = await twoProjects(450);
    const { project } = await fixture.client.deleteProject({ projectId }, call);
    expect(project).toMatchObject({ id: projectId, name: "gone" });
    const { deletedAt, purgeAfter } = project!.deletion!;
    expect(Date.parse(purgeAfter) - Date.parse(deletedAt)).toBe(GRACE_DAYS * 86_400_000);
    expect(await listed(call)).toEqual([other.id]);
    expect(await listed(call, "project:gone")).toEqual([]);
    expect(await listed(call, runIds[0])).toEqual([]);
    expect(await readable(runIds[0]!, call)).toBe(false);
    const { projects, total } = await fixture.client.listProjects({ limit: 10, offset: 0n }, call);
    expect([projects.map(({ name }) => name), total]).toEqual([["stays"], 1n]);
    expect((await fixture.client.getOverview({ metricKey: "m" }, call)).totalRuns).toBe(1n);
    const restored = await fixture.client.undeleteProject({ projectId }, call);
    expect(restored.project).toMatchObject({ id: projectId, name: "gone" });
    expect(restored.project!.deletion).toBeUndefined();
    expect(await listed(call)).toEqual([...runIds, other.id].toSorted());
    expect(await listed(call, "project:gone")).toEqual(runIds);
    expect(await listed(call, runIds[0])).toEqual([runIds[0]]);
    expect((await fixture.client.getOverview({ metricKey: "m" }, call)).totalRuns).toBe(451n);
    const left = await asOwner(fixture, "SELECT 1 FROM runs.projects WHERE org_id = $1 AND unsettled", [call.orgId]);
    expect(left).toEqual([]);
  });

  test("is answered the same when it is deleted again, and a live one when it is restored", async () => {
    const { call, projectId } = await twoProjects();
    expect((await fixture.client.undeleteProject({ projectId }, call)).project!.deletion).toBeUndefined();
    const first = await fixture.client.deleteProject({ projectId }, call);
    expect(await fixture.client.deleteProject({ projectId }, call)).toEqual(first);
  });

  test("leaves its name to a new project, and cannot be restored while that exists", async () => {
    const { call, projectId, runIds } = await twoProjects();
    await fixture.client.deleteProject({ projectId }, call);
    const again = await makeRun(fixture.client, call, { project: "gone" });
    expect(again.projectId).not.toBe(projectId);
    expect(await listed(call, "project:gone")).toEqual([again.id]);
    expect(await failure(fixture.client.undeleteProject({ projectId }, call))).toMatchObject({ reason: "conflict" });
    await fixture.client.updateProject({ projectId: again.projectId, name: "new" }, call);
    await fixture.client.undeleteProject({ projectId }, call);
    expect(await listed(call, "project:gone")).toEqual(runIds);
  });

  test("keeps what was deleted before it deleted", async () => {
    const { call, projectId, runIds, other } = await twoProjects();
    const [before, kept] = runIds as [string, string];
    await fixture.client.deleteRun({ runId: before }, call);
    await fixture.client.deleteProject({ projectId }, call);
    for (const runId of runIds) {
      expect(await failure(fixture.client.undeleteRun({ runId }, call))).toMatchObject({ reason: "conflict" });
      expect(await failure(fixture.client.deleteRun({ runId }, call))).toMatchObject({ reason: "not_found" });
    }
    await fixture.client.undeleteProject({ projectId }, call);
    expect(await listed(call)).toEqual([kept, other.id].toSorted());
    await fixture.client.undeleteRun({ runId: before }, call);
    expect(await listed(call)).toEqual([...runIds, other.id].toSorted());
  });

  test("is not reached by its own key, nor is a new project of its name", async () => {
    const { call, projectId, runIds } = await twoProjects();
    const own = callAs({ orgId: call.orgId, projectId });
    await fixture.client.deleteProject({ projectId }, call);
    await makeRun(fixture.client, call, { project: "gone" });
    expect(await listed(own)).toEqual([]);
    expect((await fixture.client.listProjects({ limit: 10, offset: 0n }, own)).total).toBe(0n);
    for (const write of [
      () => fixture.client.createRun({}, own),
      () => fixture.client.createRun({ project: "gone" }, own),
      () => fixture.client.updateRun({ runId: runIds[0]!, notes: "n" }, own),
      () => fixture.client.deleteRun({ runId: runIds[0]! }, own),
    ]) {
      expect(await failure(write())).toMatchObject({ reason: "not_found" });
    }
  });

  test("cannot be restored after its time", async () => {
    const { call, projectId } = await twoProjects();
    await fixture.client.deleteProject({ projectId }, call);
    await asOwner(fixture, "UPDATE runs.projects SET purge_after = now() - interval '1 second' WHERE id = $1", [
      projectId,
    ]);
    expect(await failure(fixture.client.undeleteProject({ projectId }, call))).toMatchObject({ reason: "not_found" });
  });

  test("of another organization is not found", async () => {
    const { projectId } = await twoProjects();
    for (const [id, call] of [
      [projectId, callAs()],
      [randomUUID(), callAs()],
      ["x", callAs()],
    ] as const) {
      expect(await failure(fixture.client.deleteProject({ projectId: id }, call))).toMatchObject({
        reason: "not_found",
      });
      expect(await failure(fixture.client.undeleteProject({ projectId: id }, call))).toMatchObject({
        reason: "not_found",
      });
    }
  });

  test("counts in the quota of projects and runs", async () => {
    const { call, projectId } = await twoProjects();
    await fixture.client.deleteProject({ projectId }, call);
    expect(await failure(fixture.limited.createProject({ name: "third" }, call))).toMatchObject({
      reason: "plan_limit_exceeded",
    });
  });

  test("takes runs with it that are created while it is deleted", async () => {
    const { call, projectId } = await twoProjects();
    const creating = Array.from({ length: 40 }, () =>
      fixture.client.createRun({ project: "gone" }, call).catch(() => undefined),
    );
    await fixture.client.deleteProject({ projectId }, call);
    await Promise.all(creating);
    const visible = await asOwner(fixture, "SELECT 1 FROM runs.runs WHERE project_id = $1 AND NOT hidden", [projectId]);
    expect(visible).toEqual([]);
  });
});

test("a dry run of a project changes nothing", async () => {
  const { call, projectId, runIds } = await twoProjects(3);
  const { project } = await fixture.client.deleteProject({ projectId, dryRun: true }, call);
  expect(project).toBeUndefined();
  expect(await readable(runIds[0]!, call)).toBe(true);
  await fixture.client.deleteProject({ projectId }, call);
  expect(await failure(fixture.client.deleteProject({ projectId, dryRun: true }, call))).toMatchObject({
    reason: "not_found",
  });
});

test("deleted projects are listed by name, for owners and admins", async () => {
  const call = callAs();
  const ids: string[] = [];
  for (const name of ["b", "a", "c"]) {
    const { project } = await fixture.client.createProject({ name }, call);
    if (name !== "c") await fixture.client.deleteProject({ projectId: project!.id }, call);
    ids.push(project!.id);
  }
  const list = (identity: object, offset = 0n) =>
    fixture.client.listProjects(
      { limit: 10, offset, deleted: true },
      callAs({ orgId: call.orgId, kind: CallerKind.SESSION, ...identity }),
    );
  for (const role of ["owner", "admin"]) {
    const { projects, total } = await list({ role });
    expect([projects.map(({ id }) => id), total]).toEqual([[ids[1], ids[0]], 2n]);
    expect(projects.every(({ deletion }) => deletion !== undefined)).toBe(true);
  }
  expect((await list({ role: "owner" }, 1n)).projects.map(({ id }) => id)).toEqual([ids[0]]);
  for (const identity of [{ role: "member" }, { role: "viewer" }, { kind: CallerKind.API_KEY }]) {
    expect(await failure(list(identity))).toMatchObject({ reason: "forbidden" });
  }
});

test("unfinished work of a process on the runs of a project is done by a later round", async () => {
  const { call, projectId, other } = await twoProjects();
  await asOwner(
    fixture,
    "UPDATE runs.projects SET deleted_at = now(), purge_after = now() + interval '1 day', unsettled = true WHERE id = $1",
    [projectId],
  );
  await fixture.deletionPropagator.round();
  expect(await listed(call)).toEqual([other.id]);
  const hidden = await asOwner(fixture, "SELECT 1 FROM runs.runs WHERE project_id = $1 AND hidden", [projectId]);
  expect(hidden).toHaveLength(2);
});
