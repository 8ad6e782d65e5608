import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { ChangeKind } from "@tidemark/proto/changes/v1/changes";
import { callAs, failure, makeRun, startRuns, type RunsFixture } from "../runs.fixture.ts";

let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
});
afterAll(() => fixture.close());
beforeEach(() => void fixture.noted.splice(0));

const taken = (): unknown[] => fixture.noted.splice(0).map(({ kind, runId, projectId }) => [kind, runId, projectId]);

test("a run is noted when it is created, changed, resumed, forked, deleted and restored", async () => {
  const { client } = fixture;
  const call = callAs();
  const { id, projectId } = await makeRun(client, call);
  const change = [ChangeKind.RUN, id, projectId];
  expect(taken()).toEqual([change]);
  await client.updateRun({ runId: id, status: "finished" }, call);
  expect(taken()).toEqual([change]);
  await client.createRun({ id, mode: "resume" }, call);
  expect(taken()).toEqual([change]);
  const fork = { runId: id, idempotencyKey: "k" };
  const { run: child } = await client.forkRun(fork, call);
  expect(taken()).toEqual([[ChangeKind.RUN, child!.run!.id, projectId]]);
  await client.deleteRun({ runId: id }, call);
  expect(taken()).toEqual([change]);
  await client.undeleteRun({ runId: id }, call);
  expect(taken()).toEqual([change]);
  // Repeats and refusals change nothing.
  await client.forkRun(fork, call);
  await client.createRun({ id, mode: "auto" }, call).catch(() => undefined);
  await failure(client.updateRun({ runId: id, status: "odd" }, call));
  await client.deleteRun({ runId: id, dryRun: true }, call);
  expect(taken()).toEqual([]);
});

test("a readme that is written and each run of a bulk update are noted, once, and what changes nothing is not", async () => {
  const { client } = fixture;
  const call = callAs();
  const { id, projectId } = await makeRun(client, call);
  const other = await makeRun(client, call);
  taken();
  const changes = [id, other.id].map((runId) => [ChangeKind.RUN, runId, projectId]);
  await client.putReadme({ runId: id, markdown: "# x" }, call);
  expect(taken()).toEqual([changes[0]]);
  const bulk = { runIds: [id, other.id], status: "failed", idempotencyKey: "b" };
  await client.bulkUpdateRuns({ ...bulk, dryRun: true }, call);
  expect(taken()).toEqual([]);
  await client.bulkUpdateRuns(bulk, call);
  const noted = taken();
  expect([noted.length, noted]).toEqual([2, expect.arrayContaining(changes)]);
  await client.bulkUpdateRuns(bulk, call);
  await client.bulkUpdateRuns({ runIds: [id, "0a1b2c3d-0000-4000-8000-0000000000ff"], status: "running" }, call);
  expect(taken()).toEqual([]);
});

test("a deleted project is noted, a dry run is not", async () => {
  const call = callAs();
  const { projectId } = await makeRun(fixture.client, call);
  taken();
  await fixture.client.deleteProject({ projectId, dryRun: true }, call);
  expect(taken()).toEqual([]);
  await fixture.client.deleteProject({ projectId }, call);
  expect(taken()).toEqual([[ChangeKind.PROJECT_DELETED, "", projectId]]);
});

test("a project is found by its id, by whoever may see it", async () => {
  const { client } = fixture;
  const call = callAs();
  const { projectId } = await makeRun(client, call, { project: "p" });
  expect((await client.getProject({ projectId: projectId.toUpperCase() }, call)).project).toMatchObject({ name: "p" });
  for (const id of ["0a1b2c3d-0000-4000-8000-0000000000ff", "p", ""]) {
    expect(await failure(client.getProject({ projectId: id }, call))).toMatchObject({ reason: "not_found" });
  }
  expect(await failure(client.getProject({ projectId }, callAs()))).toMatchObject({ reason: "not_found" });
  await client.deleteProject({ projectId }, call);
  expect(await failure(client.getProject({ projectId }, call))).toMatchObject({ reason: "not_found" });
});
