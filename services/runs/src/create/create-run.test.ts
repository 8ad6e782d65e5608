import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { asOwner, callAs, failure, json, makeRun, startRuns, text, type RunsFixture } from "../runs.fixture.ts";

let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
});
afterAll(() => fixture.close());

const runsOf = async (orgId: string): Promise<number> => {
  const [row] = await asOwner<{ n: number }>(
    fixture,
    "SELECT count(*)::integer AS n FROM runs.runs WHERE org_id = $1",
    [orgId],
  );
  return row?.n ?? -1;
};

describe("without an id", () => {
  test.each(["", "create", "auto"])("mode %j makes a run each time", async (mode) => {
    const call = callAs();
    const first = await fixture.client.createRun({ mode }, call);
    const second = await fixture.client.createRun({ mode }, call);
    expect(first).toMatchObject({ created: true, run: { status: "running", project: "default", resumeCount: 0 } });
    expect(second.created).toBe(true);
    expect(second.run?.id).not.toBe(first.run?.id);
  });

  test("names it by two words and its number in the project", async () => {
    const call = callAs();
    await makeRun(fixture.client, call, { project: "a" });
    const second = await makeRun(fixture.client, call, { project: "a" });
    const other = await makeRun(fixture.client, call, { project: "b" });
    expect(second.name).toMatch(/^[a-z]+-[a-z]+-2$/);
    expect(other.name).toMatch(/^[a-z]+-[a-z]+-1$/);
  });

  test("resume is 400 without a code", async () => {
    expect(await failure(fixture.client.createRun({ mode: "resume" }, callAs()))).toMatchObject({
      reason: "bad_request",
      field: "id",
    });
  });
});

describe("with an unused id", () => {
  test.each(["create", "auto"])("%s makes the run", async (mode) => {
    const call = callAs();
    const id = randomUUID();
    const answer = await fixture.client.createRun(
      {
        mode,
        id,
        project: "vision",
        name: "mine",
        tags: ["b", "a", "b"],
        configJson: json('{"b":1,"a":{"d":1,"c":2}}'),
      },
      call,
    );
    expect(answer.created).toBe(true);
    expect(answer.run).toMatchObject({
      id,
      orgId: call.orgId,
      project: "vision",
      name: "mine",
      status: "running",
      tags: ["b", "a", "b"],
    });
    expect(text(answer.run?.configJson)).toBe('{"a":{"c":2,"d":1},"b":1}');
    expect(text(answer.run?.metadataJson)).toBe("{}");
    expect(answer.run?.createdAt).toBe(answer.run?.startedAt);
    expect(answer.run).not.toHaveProperty("finishedAt", expect.anything());
  });

  test("resume is 404 run_not_found and takes nothing", async () => {
    const id = randomUUID();
    const resumed = fixture.client.createRun({ mode: "resume", id, project: "p" }, callAs());
    expect(await failure(resumed)).toMatchObject({ reason: "run_not_found" });
    expect((await fixture.client.createRun({ id }, callAs())).created).toBe(true);
  });
});

describe("with the id of a visible run", () => {
  const request = { project: "p", name: "n", tags: ["t", "u"], configJson: json('{"a":1,"b":[1,{"x":2,"y":3}]}') };

  test("an equal create is a replay, however it is written", async () => {
    const call = callAs();
    const id = randomUUID();
    const first = await makeRun(fixture.client, call, { ...request, id });
    const replay = { ...request, id, mode: "create", configJson: json('{ "b" : [1.0,{"y":3,"x":2e0}], "a":1 }') };
    expect(await fixture.client.createRun(replay, call)).toMatchObject({ created: false, run: first });
    expect(await runsOf(call.orgId)).toBe(1);
  });

  test("a replay of a finished run gives the run as it is now", async () => {
    const call = callAs();
    const id = randomUUID();
    await makeRun(fixture.client, call, { ...request, id });
    await fixture.client.updateRun({ runId: id, status: "finished", tags: { tags: ["x"] } }, call);
    expect(await fixture.client.createRun({ ...request, id }, call)).toMatchObject({
      created: false,
      run: { status: "finished", tags: ["x"] },
    });
  });

  test("leaving the project out equals naming default", async () => {
    const call = callAs();
    const id = randomUUID();
    await makeRun(fixture.client, call, { id });
    expect((await fixture.client.createRun({ id, project: "default" }, call)).created).toBe(false);
  });

  test.each([
    ["another project", { project: "q" }],
    ["other metadata", { metadataJson: json('{"m":1}') }],
    ["tags in another order", { tags: ["u", "t"] }],
  ])("a create with %s is 409 run_id_conflict and changes nothing", async (_what, change) => {
    const call = callAs();
    const id = randomUUID();
    const first = await makeRun(fixture.client, call, { ...request, id });
    expect(await failure(fixture.client.createRun({ ...request, ...change, id }, call))).toMatchObject({
      reason: "run_id_conflict",
      field: "id",
    });
    expect((await fixture.client.getRun({ runId: id, metricLimit: 1 }, call)).run?.run).toEqual(first);
    expect((await fixture.client.listProjects({ limit: 10 }, call)).projects.map(({ name }) => name)).toEqual(["p"]);
  });

  test("seeds that differ in the last of twenty digits are different requests", async () => {
    const call = callAs();
    const id = randomUUID();
    await makeRun(fixture.client, call, { id, configJson: json('{"seed":12345678901234567890}') });
    const other = fixture.client.createRun({ id, configJson: json('{"seed":12345678901234567891}') }, call);
    expect(await failure(other)).toMatchObject({ reason: "run_id_conflict" });
  });

  test("a create of a run whose id the server chose is 409, even if all else is equal", async () => {
    const call = callAs();
    const { id } = await makeRun(fixture.client, call, request);
    expect(await failure(fixture.client.createRun({ ...request, id }, call))).toMatchObject({
      reason: "run_id_conflict",
    });
  });

  test("a run that auto made remembers its request for create", async () => {
    const call = callAs();
    const id = randomUUID();
    await makeRun(fixture.client, call, { ...request, id, mode: "auto" });
    expect((await fixture.client.createRun({ ...request, id, mode: "create" }, call)).created).toBe(false);
  });

  test("auto attaches and compares nothing", async () => {
    const call = callAs();
    const { id } = await makeRun(fixture.client, call, request);
    const attached = await fixture.client.createRun(
      { mode: "auto", id, project: "elsewhere", name: "z", configJson: json('{"z":1}') },
      call,
    );
    expect(attached).toMatchObject({ created: false, run: { project: "p", name: "n" } });
    expect((await fixture.client.listProjects({ limit: 10 }, call)).total).toBe(1n);
  });

  test("resume of another explicit project is 409 resume_project_mismatch, also for a running run", async () => {
    const call = callAs();
    const { id } = await makeRun(fixture.client, call, request);
    expect(await failure(fixture.client.createRun({ mode: "resume", id, project: "default" }, call))).toMatchObject({
      reason: "resume_project_mismatch",
      field: "project",
    });
  });

  test("resume ignores name, config, tags and metadata", async () => {
    const call = callAs();
    const { id } = await makeRun(fixture.client, call, request);
    const resumed = await fixture.client.createRun(
      { mode: "resume", id, project: "p", name: "z", tags: ["z"], configJson: json('{"z":1}') },
      call,
    );
    expect(resumed).toMatchObject({ created: false, run: { name: "n", tags: ["t", "u"], resumeCount: 0 } });
  });
});

describe("refused requests", () => {
  const id = randomUUID();
  test.each([
    ["an unknown mode", { mode: "again" }, "invalid_run_mode", "mode"],
    ["an id that is not a UUID", { id: "x" }, "invalid_run_id", "id"],
    ["the nil id", { id: "00000000-0000-0000-0000-000000000000" }, "invalid_run_id", "id"],
    ["an id in upper case", { id: "ABCDEF00-0000-4000-8000-000000000001" }, "invalid_run_id", "id"],
    ["a config that is a list", { id, configJson: json("[1]") }, "bad_request", "config"],
    ["a config that is a number", { id, configJson: json("1") }, "bad_request", "config"],
    ["a config that is null", { id, configJson: json("null") }, "bad_request", "config"],
    ["metadata that is not JSON", { id, metadataJson: json("{") }, "bad_request", "metadata"],
    ["metadata that is not UTF-8", { id, metadataJson: new Uint8Array([0xff]) }, "bad_request", "metadata"],
    ["a number beyond double range", { id, configJson: json('{"a":[1e400]}') }, "bad_request", "config"],
    ["a bad mode before a bad id", { mode: "again", id: "x" }, "invalid_run_mode", "mode"],
    ["a bad id before a bad config", { id: "x", configJson: json("[]") }, "invalid_run_id", "id"],
  ])("%s", async (_what, request, reason, field) => {
    const call = callAs();
    expect(await failure(fixture.client.createRun(request, call))).toMatchObject({ reason, field });
    expect((await fixture.client.listProjects({ limit: 1 }, call)).total).toBe(0n);
  });

  test("a document nested too deep to walk is 400", async () => {
    const deep = `{"a":${"[".repeat(200_000)}${"]".repeat(200_000)}}`;
    const nested = `{"a":${"[".repeat(200)}${"]".repeat(200)}}`;
    for (const config of [deep, nested]) {
      expect(await failure(fixture.client.createRun({ configJson: json(config) }, callAs()))).toMatchObject({
        reason: "bad_request",
      });
    }
  });

  test("a call without an identity is unauthenticated", async () => {
    const { identity: _none, ...anonymous } = callAs();
    expect(await failure(fixture.client.createRun({}, { ...anonymous, identity: undefined }))).toMatchObject({
      reason: "unauthenticated",
    });
  });
});

describe("with a project-scoped key", () => {
  const scopedTo = async (project: string) => {
    const wide = callAs();
    const { project: row } = await fixture.client.createProject({ name: project }, wide);
    return { wide, scoped: callAs({ orgId: wide.orgId, projectId: row?.id ?? "" }) };
  };

  test("the project left out is the key's own", async () => {
    const { scoped } = await scopedTo("mine");
    expect(await makeRun(fixture.client, scoped)).toMatchObject({ project: "mine" });
    expect(await makeRun(fixture.client, scoped, { project: "mine" })).toMatchObject({ project: "mine" });
  });

  test("a replay may name the own project or leave it out", async () => {
    const { scoped } = await scopedTo("mine");
    const id = randomUUID();
    await makeRun(fixture.client, scoped, { id });
    expect((await fixture.client.createRun({ id, project: "mine" }, scoped)).created).toBe(false);
  });

  test.each(["create", "auto", "resume"])("%s with another project is 403 and makes none", async (mode) => {
    const { wide, scoped } = await scopedTo("mine");
    const refused = fixture.client.createRun({ mode, id: randomUUID(), project: "default" }, scoped);
    expect(await failure(refused)).toMatchObject({ reason: "forbidden" });
    expect((await fixture.client.listProjects({ limit: 10 }, wide)).total).toBe(1n);
  });

  test("a key whose project is gone can do nothing", async () => {
    expect(await failure(fixture.client.createRun({}, callAs({ projectId: randomUUID() })))).toMatchObject({
      reason: "not_found",
    });
  });
});
