import { expect, test } from "@jest/globals";
import { randomUUID } from "node:crypto";
import type { Api } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";

// One file, because all cases share a stack in each mode.

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

describeModes("projects and runs", (stack) => {
  const fresh = async (): Promise<Api> => (await stack().organization()).api;

  test("POST /projects creates a project and answers the existing one again", async () => {
    const api = await fresh();
    const made = await api.post("/projects", { name: "vision", description: "first" });
    expect(made.status).toBe(200);
    expect(made.json.project).toMatchObject({ name: "vision", description: "first" });
    expect(made.json.project.id).toMatch(UUID);
    expect(made.json.project.created_at).toMatch(RFC3339);
    const again = await api.post("/projects", { name: " vision ", description: "second" });
    expect(again.json.project).toEqual(made.json.project);
    const list = await api.get("/projects");
    expect(list.json.projects).toEqual([made.json.project]);
  });

  test.each(["all", "ALL", " All "])("no project is called %j, in whatever way it would get the name", async (name) => {
    const api = await fresh();
    const { json } = await api.post("/projects", { name: "other" });
    const refused = [
      await api.call("POST", "/projects", { body: { name } }),
      await api.call("POST", "/runs", { body: { project: name } }),
      await api.call("PATCH", `/projects/${json.project.id}`, { body: { name } }),
      await api.call("POST", "/api/imports/jobs", { body: { source_type: "wandb", target_project: name } }),
      await api.call("POST", "/api/imports/wandb", { body: { project: name, runs: [] } }),
      await api.call("POST", "/api/imports/wandb?dry_run=true", { body: { project: name, runs: [] } }),
    ];
    expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 400));
    for (const { json: answer } of refused) expect(answer.error).toContain("must not be called all");
    const { projects } = (await api.get("/projects")).json;
    expect(projects).toMatchObject([{ name: "other" }]);
  });

  test("POST /runs without id makes a running run with a generated name in the default project", async () => {
    const api = await fresh();
    const made = await api.post("/runs", { project: null, name: null, config: {}, tags: [], metadata: {} });
    expect(made.status).toBe(200);
    expect(made.json).toMatchObject({
      created: true,
      run: {
        project: "default",
        status: "running",
        config: {},
        tags: [],
        metadata: {},
        notes: null,
        finished_at: null,
        resume_count: 0,
        resumed_at: null,
        parent_run_id: null,
        forked_from_step: null,
        forked_from_artifact_id: null,
        lifecycle: [],
      },
    });
    expect(made.json.run.id).toMatch(UUID);
    expect(made.json.run.name).toMatch(/^[a-z]+-[a-z]+-1$/);
    expect(made.json.run.started_at).toMatch(RFC3339);
    expect(made.json.run).not.toHaveProperty("create_request_hash");
    const second = await api.post("/runs", {});
    expect(second.json.run.name).toMatch(/-2$/);
    expect(second.json.run.id).not.toBe(made.json.run.id);
  });

  test("create with the same id and payload replays, in any order of its keys", async () => {
    const api = await fresh();
    const id = randomUUID();
    const first = await api.post("/runs", { id: id.toUpperCase(), project: "p", config: { a: 1, b: { c: 2, d: 3 } } });
    expect(first.json).toMatchObject({ created: true, run: { id } });
    const again = await api.post("/runs", { id, project: "p", config: { b: { d: 3, c: 2 }, a: 1 } });
    expect(again.status).toBe(200);
    expect(again.json).toMatchObject({ created: false, run: { id, config: { a: 1, b: { c: 2, d: 3 } } } });
  });

  test.each([
    ["another config", { config: { a: 2 } }],
    ["another project", { project: "other" }],
    ["another name", { name: "x" }],
    ["other tags", { tags: ["t"] }],
  ])("create with the same id and %s is 409 run_id_conflict and changes nothing", async (_what, change) => {
    const api = await fresh();
    const id = randomUUID();
    const first = await api.post("/runs", { id, project: "p", config: { a: 1 } });
    const conflict = await api.post("/runs", { id, project: "p", config: { a: 1 }, ...change });
    expect(conflict.status).toBe(409);
    expect(conflict.json).toMatchObject({ code: "run_id_conflict", error: expect.any(String) });
    expect((await api.get(`/runs/${id}`)).json.run).toMatchObject({
      config: { a: 1 },
      name: first.json.run.name,
      tags: [],
    });
  });

  test("auto creates an unused id and attaches to a used one, finished runs staying finished", async () => {
    const api = await fresh();
    const id = randomUUID();
    expect((await api.post("/runs", { id, mode: "auto", project: "p" })).json).toMatchObject({ created: true });
    await api.patch(`/runs/${id}`, { status: "finished" });
    const attached = await api.post("/runs", { id, mode: "auto", project: "elsewhere", config: { z: 1 } });
    expect(attached.status).toBe(200);
    expect(attached.json).toMatchObject({ created: false, run: { status: "finished", project: "p", config: {} } });
  });

  test("resume of a finished run clears finished_at, keeps started_at and counts", async () => {
    const api = await fresh();
    const id = randomUUID();
    const made = await api.post("/runs", { id });
    await api.patch(`/runs/${id}`, { status: "failed" });
    const failed = (await api.get(`/runs/${id}`)).json.run;
    expect(failed).toMatchObject({ status: "failed", finished_at: expect.stringMatching(RFC3339) });
    const resumed = await api.post("/runs", { id, mode: "resume" });
    expect(resumed.json).toMatchObject({
      created: false,
      run: { status: "running", finished_at: null, started_at: made.json.run.started_at, resume_count: 1 },
    });
    expect(resumed.json.run.lifecycle).toEqual([
      { status_from: "failed", status_to: "running", at: expect.stringMatching(RFC3339), kind: "resume" },
    ]);
  });

  test("resume of a running run is a plain attach", async () => {
    const api = await fresh();
    const id = randomUUID();
    await api.post("/runs", { id });
    expect((await api.post("/runs", { id, mode: "resume" })).json).toMatchObject({
      created: false,
      run: { status: "running", resume_count: 0 },
    });
  });

  test.each([
    ["resume without an id", { mode: "resume" }, 400, undefined],
    ["resume of a missing id", { mode: "resume", id: randomUUID() }, 404, "run_not_found"],
    ["an unknown mode", { mode: "again" }, 400, "invalid_run_mode"],
    ["an id in braces", { id: `{${randomUUID()}}` }, 400, "invalid_run_id"],
    ["an id without hyphens", { id: randomUUID().replaceAll("-", "") }, 400, "invalid_run_id"],
    ["the nil id", { id: "00000000-0000-0000-0000-000000000000" }, 400, "invalid_run_id"],
    ["an empty id", { id: "" }, 400, "invalid_run_id"],
    ["a config that is a list", { config: [1] }, 400, undefined],
    ["metadata that is text", { metadata: "x" }, 400, undefined],
    ["tags that are not a list", { tags: "a" }, 400, undefined],
    ["an empty tag", { tags: [" "] }, 400, undefined],
    ["a tag of 513 bytes", { tags: ["é".repeat(257)] }, 400, undefined],
    ["a name of 513 bytes", { name: "n".repeat(513) }, 400, undefined],
    ["a name with NUL", { name: "a\u0000b" }, 400, undefined],
    ["a project of 513 bytes", { project: "p".repeat(513) }, 400, undefined],
  ])("POST /runs with %s is refused", async (_what, body, status, code) => {
    const api = await fresh();
    const answer = await api.post("/runs", body);
    expect(answer.status).toBe(status);
    expect(answer.json.error).toEqual(expect.any(String));
    expect(answer.json.code).toBe(code);
    expect((await api.get("/runs")).json.runs).toEqual([]);
  });

  test("20 parallel creates of one id and payload make one run", async () => {
    const api = await fresh();
    const id = randomUUID();
    const answers = await Promise.all(Array.from({ length: 20 }, () => api.post("/runs", { id, config: { a: 1 } })));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(answers.filter(({ json }) => json.created)).toHaveLength(1);
    expect((await api.get("/runs")).json.runs).toHaveLength(1);
  });

  test("one id in two organizations: the first wins, the second is 404 run_not_found", async () => {
    const [first, second] = await Promise.all([fresh(), fresh()]);
    const id = randomUUID();
    expect((await first.post("/runs", { id })).status).toBe(200);
    for (const mode of ["create", "auto", "resume"]) {
      const answer = await second.post("/runs", { id, mode });
      expect(answer).toMatchObject({ status: 404, json: { code: "run_not_found" } });
    }
  });

  test("documents are returned with the numbers that were sent", async () => {
    const api = await fresh();
    const text =
      '{"project":"n","config":{"seed":12345678901234567890,"lr":1e-05,"big":1e300,"neg":-0.0,"deep":[{"x":18446744073709551615}]}}';
    const made = await api.call("POST", "/runs", { rawBody: text });
    expect(made.status).toBe(200);
    expect(made.text).toContain("12345678901234567890");
    const read = await api.get(`/runs/${made.json.run.id}`);
    expect(read.text).toContain('"seed":12345678901234567890');
    expect(read.text).toContain('"x":18446744073709551615');
    expect(read.json.run.config).toMatchObject({ lr: 1e-5, big: 1e300 });
    expect((await api.call("POST", "/runs", { rawBody: '{"config":{"a":1e400}}' })).status).toBe(400);
  });

  test("notes live in metadata and at the top, and an empty text removes them", async () => {
    const api = await fresh();
    const made = await api.post("/runs", { metadata: { notes: "first", gpu: "a100" } });
    expect(made.json.run).toMatchObject({ notes: "first", metadata: { notes: "first", gpu: "a100" } });
    const path = `/runs/${made.json.run.id}`;
    expect((await api.patch(path, { notes: " second " })).json.run).toMatchObject({
      notes: "second",
      metadata: { notes: "second" },
    });
    const cleared = (await api.patch(path, { notes: "" })).json.run;
    expect(cleared.notes).toBeNull();
    expect(cleared.metadata).toEqual({ gpu: "a100" });
  });

  test("PATCH sets status once: the first finish time wins, back to running clears nothing", async () => {
    const api = await fresh();
    const path = `/runs/${(await api.post("/runs", {})).json.run.id}`;
    const finished = (await api.patch(path, { status: "finished", tags: ["done"] })).json.run;
    expect(finished).toMatchObject({ status: "finished", tags: ["done"], finished_at: expect.stringMatching(RFC3339) });
    const failed = (await api.patch(path, { status: "failed" })).json.run;
    expect(failed).toMatchObject({ status: "failed", finished_at: finished.finished_at });
    const running = (await api.patch(path, { status: "running", tags: [] })).json.run;
    expect(running).toMatchObject({ status: "running", finished_at: finished.finished_at, tags: [], resume_count: 0 });
  });

  test.each([
    ["no field", {}],
    ["only nulls", { status: null, tags: null, notes: null }],
    ["an unknown status", { status: "paused" }],
    ["notes of 513 bytes", { notes: "n".repeat(513) }],
    ["tags that are not a list", { tags: {} }],
  ])("PATCH with %s is 400, but 404 for a run that is not there", async (_what, body) => {
    const api = await fresh();
    const run = (await api.post("/runs", {})).json.run;
    const refused = await api.patch(`/runs/${run.id}`, body);
    expect(refused.status).toBe(400);
    expect(refused.json.field).not.toBe("");
    expect((await api.patch(`/runs/${randomUUID()}`, body)).status).toBe(404);
    expect((await api.patch("/runs/not-a-uuid", body)).status).toBe(404);
  });

  test("GET /runs/{id} is a summary with aggregates, counts and control", async () => {
    const api = await fresh();
    const { id } = (await api.post("/runs", {})).json.run;
    for (const [step, value] of [
      [0, 1],
      [1, 0.25],
      [2, 0.5],
    ]) {
      await api.post(`/runs/${id}/metrics`, { metrics: { loss: value }, step });
    }
    const { run } = (await api.get(`/runs/${id}`)).json;
    expect(run).toMatchObject({
      latest_metrics: { loss: 0.5 },
      metric_keys: ["loss"],
      artifact_counts: { checkpoint: 0, rollout: 0, file: 0 },
      run_control: {
        stop_state: "none",
        display_status: "running",
        stop_request_id: null,
        stop_requested: false,
        actor: null,
        stop_requested_at: null,
        stop_acknowledged_at: null,
        stop_completed_at: null,
      },
    });
    expect(run.metric_aggregates.loss).toMatchObject({
      latest: 0.5,
      min: 0.25,
      max: 1,
      count: 3,
      best: 0.25,
      best_step: 1,
    });
    expect(run.metric_aggregates.loss.mean).toBeCloseTo(7 / 12, 12);
    expect(run.metric_aggregates.loss.variance).toBeCloseTo(0.0972222222, 8);
  });

  test.each(["not-a-uuid", randomUUID(), "0"])("GET /runs/%s is 404 with an error text", async (id) => {
    const api = await fresh();
    const answer = await api.get(`/runs/${id}`);
    expect(answer).toMatchObject({ status: 404, json: { error: expect.stringContaining("not found") } });
  });

  test("GET /runs filters, sorts and pages", async () => {
    const api = await fresh();
    const values: [string, string, number | undefined][] = [
      ["b", "p1", 3],
      ["a", "p1", 1],
      ["c", "p2", 2],
      ["d", "p2", undefined],
    ];
    for (const [name, project, score] of values) {
      const { id } = (await api.post("/runs", { name, project })).json.run;
      if (score !== undefined) await api.post(`/runs/${id}/metrics`, { metrics: { score, loss: score }, step: 0 });
      if (name === "c") await api.patch(`/runs/${id}`, { status: "failed" });
    }
    const names = async (query: string): Promise<string[]> => {
      const answer = await api.get(`/runs?${query}`);
      expect(answer.status).toBe(200);
      return answer.json.runs.map((run: { name: string }) => run.name);
    };
    expect(await names("")).toEqual(["d", "c", "a", "b"]);
    expect(await names("project=all&status=all&display_status=")).toHaveLength(4);
    expect(await names("project=p1")).toEqual(["a", "b"]);
    expect(await names("project=nowhere")).toEqual([]);
    expect(await names("status=failed")).toEqual(["c"]);
    expect(await names("status=nonsense")).toEqual([]);
    expect(await names("display_status=running&sort_by=name")).toEqual(["a", "b", "d"]);
    expect(await names("sort_by=name")).toEqual(["a", "b", "c", "d"]);
    expect(await names("sort_by=metric-best&metric_key=score")).toEqual(["b", "c", "a", "d"]);
    expect(await names("sort_by=metric-best&metric_key=loss")).toEqual(["a", "c", "b", "d"]);
    expect(await names("sort_by=metric-latest&metric_key=score")).toEqual(["b", "c", "a", "d"]);
    expect(await names("sort_by=duration")).toEqual(["c", "d", "a", "b"]);
    expect(await names("limit=2&offset=1")).toEqual(["c", "a"]);
    expect(await names("limit=")).toHaveLength(4);
  });

  test("a project-scoped key sees and writes its own project only", async () => {
    const { api, orgId } = await stack().organization();
    await api.post("/projects", { name: "mine" });
    const foreign = (await api.post("/runs", { project: "theirs" })).json.run;
    const issued = await api.post(
      `/api/orgs/${orgId}/api-keys`,
      { project: "mine", scopes: ["sdk:ingest", "export:read"] },
      { key: null, headers: { "x-svc-bootstrap-token": stack().bootstrapToken } },
    );
    const scoped = api.as(issued.json.api_key);
    expect((await scoped.post("/projects", { name: "mine" })).status).toBe(403);
    expect((await scoped.post("/runs", { project: "theirs" })).status).toBe(403);
    const own = await scoped.post("/runs", {});
    expect(own.json.run).toMatchObject({ project: "mine" });
    expect((await scoped.get("/projects")).json.projects.map((p: { name: string }) => p.name)).toEqual(["mine"]);
    expect((await scoped.get("/runs")).json.runs.map((run: { id: string }) => run.id)).toEqual([own.json.run.id]);
    expect((await scoped.get(`/runs/${foreign.id}`)).status).toBe(404);
    expect((await scoped.patch(`/runs/${foreign.id}`, { status: "failed" })).status).toBe(404);
    expect((await scoped.post(`/runs/${foreign.id}/metrics`, { metrics: { a: 1 }, step: 0 })).status).toBe(404);
    expect(await scoped.post("/runs", { id: foreign.id, mode: "auto" })).toMatchObject({
      status: 404,
      json: { code: "run_not_found" },
    });
  });
});
