import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { asOwner, callAs, failure, json, makeRun, startRuns, text, type RunsFixture } from "../runs.fixture.ts";

let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
});
afterAll(() => fixture.close());

test("a deleted run is read on request, until its time is over", async () => {
  const call = callAs();
  const { client } = fixture;
  const { id: runId } = await makeRun(client, call);
  const read = (includeDeleted: boolean) => client.getRun({ runId, metricLimit: 1, includeDeleted }, call);
  expect((await read(true)).hidden).toBe(false);
  await client.deleteRun({ runId }, call);
  expect((await failure(read(false))).reason).toBe("not_found");
  expect(await read(true)).toMatchObject({ hidden: true, run: { run: { id: runId, deletion: expect.anything() } } });
  expect((await failure(client.getRun({ runId, metricLimit: 1, includeDeleted: true }, callAs()))).reason).toBe(
    "not_found",
  );
  await asOwner(fixture, "UPDATE runs.runs SET purge_after = now() - interval '1 second' WHERE id = $1", [runId]);
  expect((await failure(read(true))).reason).toBe("not_found");
});

test("so are a project by number, and its runs", async () => {
  const call = callAs();
  const { client } = fixture;
  const { id: runId, projectId } = await makeRun(client, call, { project: "p" });
  await client.deleteProject({ projectId }, call);
  const read = (includeDeleted: boolean) => client.getProject({ number: 1n, includeDeleted }, call);
  expect((await failure(read(false))).reason).toBe("not_found");
  expect(await read(true)).toMatchObject({ project: { id: projectId, deletion: expect.anything() } });
  expect((await failure(client.getProject({ name: "p" }, call))).reason).toBe("not_found");
  expect((await failure(client.getProject({ name: "p", includeDeleted: true }, call))).reason).toBe("bad_request");
  expect((await client.getRun({ runId, metricLimit: 1, includeDeleted: true }, call)).hidden).toBe(true);
  await client.undeleteProject({ projectId }, call);
  expect((await client.getRun({ runId, metricLimit: 1 }, call)).run?.run).toMatchObject({ projectNumber: 1n });
});

test("projects are numbered in the organization, and no number is used again", async () => {
  const call = callAs();
  const { client } = fixture;
  const make = async (name: string, mustBeNew = true) =>
    (await client.createProject({ name, mustBeNew, metadataJson: json('{"k":1.0}') }, call)).project!;
  const first = await make("a");
  expect([first.number, text(first.metadataJson)]).toEqual([1n, '{"k":1.0}']);
  expect((await failure(make("a"))).reason).toBe("conflict");
  expect((await make("a", false)).number).toBe(1n);
  await client.deleteProject({ projectId: first.id }, call);
  expect((await make("a")).number).toBe(2n);
  const numbers = await Promise.all(["b", "c", "d"].map(async (name) => (await make(name)).number));
  expect(new Set(numbers)).toEqual(new Set([3n, 4n, 5n]));
  expect((await client.createProject({ name: "a" }, callAs())).project!.number).toBe(1n);
  for (const number of [0n, 99n, 2n ** 60n])
    expect((await failure(client.getProject({ number }, call))).reason).toBe("not_found");
});

test("the metadata of a project is patched, and its description removed", async () => {
  const call = callAs();
  const { client } = fixture;
  const { project } = await client.createProject(
    { name: "p", description: "d", metadataJson: json('{"a":{"x":1,"y":2}}') },
    call,
  );
  const change = async (changes: object) =>
    (await client.updateProject({ projectId: project!.id, ...changes }, call)).project!;
  const patched = await change({ metadataPatchJson: json('{"a":{"x":null,"z":3.0},"b":"c"}') });
  expect([text(patched.metadataJson), patched.description, patched.name]).toEqual([
    '{"a":{"y":2,"z":3.0},"b":"c"}',
    "d",
    "p",
  ]);
  expect((await change({ description: "" })).description).toBeUndefined();
  expect((await failure(change({ metadataPatchJson: json("[]") }))).reason).toBe("bad_request");
});
