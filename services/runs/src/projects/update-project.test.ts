import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { callAs, failure, makeRun, startRuns, type RunsFixture } from "../runs.fixture.ts";

let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
});
afterAll(() => fixture.close());

type Call = ReturnType<typeof callAs>;

const listed = async (call: Call, filter: object) => {
  const request = { filter, order: { sortBy: "created", metricKey: "m" }, limit: 1000, offset: 0n };
  return (await fixture.client.listRuns(request, call)).runs.map(({ run }) => run!);
};

describe("renaming a project", () => {
  test("keeps its id and its runs, and searches find them by the new name only", async () => {
    const call = callAs();
    const made = await makeRun(fixture.client, call, { project: "before" });
    await Promise.all(Array.from({ length: 250 }, () => makeRun(fixture.client, call, { project: "before" })));
    const request = { projectId: made.projectId, name: "after", description: "d" };
    const { project } = await fixture.client.updateProject(request, call);
    expect(project).toMatchObject({ id: made.projectId, name: "after", description: "d" });
    for (const [name, runs] of [
      ["after", 251],
      ["before", 0],
    ] as const) {
      expect(await listed(call, { project: name })).toHaveLength(runs);
      expect(await listed(call, { q: `project:${name}` })).toHaveLength(runs);
      expect(await listed(call, { q: name })).toHaveLength(runs);
    }
    expect((await listed(call, {}))[0]).toMatchObject({ project: "after", projectId: made.projectId });
  });

  test("leaves what is not sent", async () => {
    const call = callAs();
    const { project } = await fixture.client.createProject({ name: "p", description: "d" }, call);
    const projectId = project!.id;
    const renamed = await fixture.client.updateProject({ projectId, name: "q" }, call);
    expect(renamed.project).toMatchObject({ name: "q", description: "d" });
    const described = await fixture.client.updateProject({ projectId, description: "e" }, call);
    expect(described.project).toMatchObject({ name: "q", description: "e" });
    expect((await fixture.client.updateProject({ projectId, name: "q" }, call)).project).toEqual({
      ...described.project,
      updatedAt: expect.any(String),
    });
  });

  test("keeps creates recognizable: the same request under the new name, and not under the old one", async () => {
    const call = callAs();
    const id = randomUUID();
    const { projectId } = await makeRun(fixture.client, call, { id, project: "old", name: "n" });
    await fixture.client.updateProject({ projectId, name: "new" }, call);
    expect((await fixture.client.createRun({ id, project: "new", name: "n" }, call)).created).toBe(false);
    await fixture.client.createProject({ name: "old" }, call);
    const refused = fixture.client.createRun({ id, project: "old", name: "n" }, call);
    expect(await failure(refused)).toMatchObject({ reason: "run_id_conflict" });
  });

  test("is refused where the name is taken", async () => {
    const call = callAs();
    const { project } = await fixture.client.createProject({ name: "p" }, call);
    await fixture.client.createProject({ name: "q" }, call);
    const refused = fixture.client.updateProject({ projectId: project!.id, name: "q" }, call);
    expect(await failure(refused)).toMatchObject({ reason: "conflict", field: "name" });
  });

  test("is not for keys of a project, nor of another organization", async () => {
    const call = callAs();
    const { project } = await fixture.client.createProject({ name: "p" }, call);
    const projectId = project!.id;
    const own = callAs({ orgId: call.orgId, projectId });
    expect(await failure(fixture.client.updateProject({ projectId, name: "q" }, own))).toMatchObject({
      reason: "forbidden",
    });
    for (const [id, by] of [
      [projectId, callAs()],
      [randomUUID(), call],
      ["x", call],
    ] as const) {
      const refused = fixture.client.updateProject({ projectId: id, name: "q" }, by);
      expect(await failure(refused)).toMatchObject({ reason: "not_found" });
    }
    const unpaid = callAs({ orgId: call.orgId, billingState: "canceled" });
    expect(await failure(fixture.client.updateProject({ projectId, name: "q" }, unpaid))).toMatchObject({
      reason: "payment_required",
    });
  });

  test("needs a field, and reports a bad body after a missing project", async () => {
    const call = callAs();
    const { project } = await fixture.client.createProject({ name: "p" }, call);
    const bodyFault = { text: "name must be a text", field: "name" };
    expect(await failure(fixture.client.updateProject({ projectId: project!.id }, call))).toMatchObject({
      reason: "bad_request",
    });
    expect(await failure(fixture.client.updateProject({ projectId: project!.id, bodyFault }, call))).toMatchObject({
      reason: "bad_request",
      field: "name",
    });
    expect(await failure(fixture.client.updateProject({ projectId: randomUUID(), bodyFault }, call))).toMatchObject({
      reason: "not_found",
    });
  });
});

test("a run gets another name, and searches find it by that only", async () => {
  const call = callAs();
  const { id: runId } = await makeRun(fixture.client, call, { name: "caterpillar" });
  const { run } = await fixture.client.updateRun({ runId, name: "butterfly" }, call);
  expect(run!.name).toBe("butterfly");
  expect(await listed(call, { q: "name:butterfly" })).toHaveLength(1);
  expect(await listed(call, { q: "caterpillar" })).toHaveLength(0);
});
