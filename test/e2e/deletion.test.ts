import { expect, test } from "@jest/globals";
import { randomUUID } from "node:crypto";
import { until } from "@tidemark/testkit";
import type { Answer, Api } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";
import { bodies, operations } from "../stack/operations.ts";
import { createTeam } from "../stack/people.ts";
import type { Stack } from "../stack/attach.ts";
import { keyOf } from "./removal.fixture.ts";

// One file, because all cases share a stack in each mode.

const DAY_MS = 86_400_000;

/** A run with data of every kind. */
async function makeFullRun(api: Api, project: string) {
  const run = (await api.post("/runs", { project, name: "unmistakable" })).json.run as {
    id: string;
    project_id: string;
  };
  let artifactId = "";
  let traceId = "";
  let objectId = 0;
  for (const [route, body] of Object.entries(bodies)) {
    const [method, path] = route.split(" ") as [string, string];
    if (!path.includes("{run_id}") || /stop-ack|artifact-inputs|artifact-uploads/.test(path)) continue;
    const headers = { "idempotency-key": randomUUID() };
    const { status, json, text } = await api.call(method, path.replace("{run_id}", run.id), { body, headers });
    expect([route, status < 300 ? "" : text]).toEqual([route, ""]);
    if (path.endsWith("/artifacts/upload")) artifactId = json.artifact.id as string;
    if (path.endsWith("/objects")) objectId = json.object.id as number;
    if (path.endsWith("/events")) traceId = "1".repeat(32);
  }
  return { id: run.id, projectId: run.project_id, artifactId, traceId, objectId };
}

type FullRun = Awaited<ReturnType<typeof makeFullRun>>;

/** The routes that name a run or something of one, but for those that delete and restore, and do not answer 404, as `<method> <path> <status>`. */
async function answersOf(stack: Stack, api: Api, run: FullRun): Promise<string[]> {
  const routes = (await operations(stack.api)).filter(
    ({ method, path }) =>
      /\{(run_id|artifact_id|object_id)\}/.test(path) &&
      !path.endsWith("/restore") &&
      `${method} ${path}` !== "DELETE /runs/{run_id}",
  );
  expect(routes.length).toBeGreaterThan(25);
  const ask = ({ method, path }: (typeof routes)[number]): Promise<Answer> => {
    const filled = path
      .replace("{run_id}", run.id)
      .replace("{artifact_id}", run.artifactId)
      .replace("{object_id}", String(run.objectId))
      .replace("{trace_id}", run.traceId);
    const body = bodies[`${method} ${path}`];
    return api.call(method, filled, {
      headers: { "idempotency-key": randomUUID() },
      ...(body === undefined ? {} : { body }),
    });
  };
  const answers: string[] = [];
  for (const route of routes) {
    const { status } = await ask(route);
    if (status !== 404) answers.push(`${route.method} ${route.path} ${status}`);
  }
  return answers;
}

/** Processes that did not answer the deletion learn of it within a second: asks each of them, without changing anything, and then every route. */
async function expectUnknown(stack: Stack, api: Api, run: FullRun): Promise<void> {
  const probes = [
    api.call.bind(api, "POST", `/runs/${run.id}/metrics`, { body: {} }),
    ...["attributes", "artifacts", `traces/${run.traceId}`, "stop-signal"].map((what) =>
      api.call.bind(api, "GET", `/api/runs/${run.id}/${what}`),
    ),
  ];
  await until("every process to know", async () =>
    (await Promise.all(probes.map((probe) => probe()))).every(({ status }) => status === 404),
  );
  expect(await answersOf(stack, api, run)).toEqual([]);
}

/** Returns what lists over runs show of a project's only run. */
async function listed(api: Api): Promise<unknown[]> {
  const at = async (path: string, of: (json: Answer["json"]) => unknown) => of((await api.get(path)).json);
  return Promise.all([
    at("/runs", (json) => json.runs.length),
    at("/api/runs/summary", (json) => json.total),
    at("/api/runs/summary?q=unmistakable", (json) => json.total),
    at("/api/overview", (json) => [json.overview.total_runs, json.overview.metric_points > 0]),
    at("/api/objects/explorer", (json) => json.objects.length),
    at("/api/traces?project=p&from=2025-01-01T00:00:00Z", (json) => json.traces?.length ?? 0),
  ]);
}

describeModes("deletion", (stack) => {
  test("a deleted run is 404 on every route, in no list, and back as it was when it is restored", async () => {
    const team = await createTeam(stack());
    const member = await team.join("member");
    const api = await keyOf(stack(), team.owner);
    const run = await makeFullRun(api, "p");
    expect(await listed(api)).toEqual([1, 1, 1, [1, true], 1, 1]);
    const before = (await api.get(`/runs/${run.id}`)).json.run;
    const { status, json } = await member.browser.call("DELETE", `/runs/${run.id}`);
    expect([status, json.run.id]).toEqual([200, run.id]);
    expect(Date.parse(json.run.purge_after) - Date.parse(json.run.deleted_at)).toBe(30 * DAY_MS);
    await expectUnknown(stack(), api, run);
    expect(await listed(api)).toEqual([0, 0, 0, [0, false], 0, 0]);
    const restored = (await member.browser.post(`/runs/${run.id}/restore`, {})).json.run;
    expect(restored).toMatchObject({ id: run.id, deleted_at: null, purge_after: null });
    await until("every service to know", async () => (await listed(api))[4] === 1);
    expect(await listed(api)).toEqual([1, 1, 1, [1, true], 1, 1]);
    const { last_seen_at: _seen, ...after } = (await api.get(`/runs/${run.id}`)).json.run;
    expect(before).toMatchObject(after);
    expect((await api.post(`/runs/${run.id}/metrics`, { metrics: { a: 1 }, step: 3 })).status).toBe(200);
  });

  test("a deleted project takes its runs with it, keeps its key out, and leaves its name", async () => {
    const team = await createTeam(stack());
    const api = await keyOf(stack(), team.owner);
    const run = await makeFullRun(api, "p");
    const own = await keyOf(stack(), team.owner, run.projectId);
    const { status, json } = await team.owner.browser.call("DELETE", `/projects/${run.projectId}`);
    expect([status, json.project.name]).toEqual([200, "p"]);
    expect(Date.parse(json.project.purge_after) - Date.parse(json.project.deleted_at)).toBe(30 * DAY_MS);
    await expectUnknown(stack(), api, run);
    expect(await listed(api)).toEqual([0, 0, 0, [0, false], 0, 0]);
    const again = (await api.post("/runs", { project: "p" })).json.run;
    expect(again.project_id).not.toBe(run.projectId);
    expect((await own.get("/runs")).json.runs).toEqual([]);
    expect((await own.get("/projects")).json.projects).toEqual([]);
    expect((await own.post("/runs", {})).status).toBe(404);
    expect((await own.post("/runs", { project: "p" })).status).toBe(404);
    const restore = () => team.owner.browser.post(`/projects/${run.projectId}/restore`, {});
    expect((await restore()).status).toBe(409);
    expect((await api.call("PATCH", `/projects/${again.project_id}`, { body: { name: "q" } })).status).toBe(200);
    expect((await restore()).json.project).toMatchObject({ id: run.projectId, deleted_at: null, purge_after: null });
    await until("every service to know", async () => (await api.get(`/runs/${run.id}`)).status === 200);
    expect((await own.get("/runs")).json.runs).toHaveLength(1);
  });

  test("reports, views, imports and embeds of a deleted project are closed until it is restored", async () => {
    const team = await createTeam(stack());
    const { browser } = team.owner;
    const api = await keyOf(stack(), team.owner);
    const run = (await api.post("/runs", { project: "p" })).json.run as { id: string; project_id: string };
    const projectId = run.project_id;
    const anyone = { key: null };
    const made = await browser.post("/api/reports", { title: "t", visibility: "public", project_id: projectId });
    const { id: reportId } = made.json.report;
    const { share_token: token } = (await browser.post(`/api/reports/${reportId}/share`, {})).json.report;
    const views = await Promise.all(
      ["p", projectId].map(
        async (project) => (await browser.post("/api/workspace-views", { name: "v", project })).json.workspace_view.id,
      ),
    );
    await api.post("/api/imports/jobs", { source_type: "wandb", target_project: "p" });
    const sent = { run_ids: [run.id], allowed_parent_origin: "https://portal.test" };
    const { embed_token: embedToken, embed_session: embed } = (await api.post("/api/embed/sessions", sent)).json;
    const state = async () => {
      const listedReports = (await browser.get("/api/reports")).json;
      return {
        statuses: [
          (await browser.get(`/api/reports/${reportId}`)).status,
          (await stack().api.get(`/api/reports/${reportId}`, anyone)).status,
          (await stack().api.get(`/api/reports/share/${token}`, anyone)).status,
          ...(await Promise.all(views.map(async (id) => (await browser.get(`/api/workspace-views/${id}`)).status))),
        ],
        reports: [listedReports.reports.length, listedReports.total],
        views: (await browser.get("/api/workspace-views")).json.workspace_views.length,
        imports: (await browser.get("/api/imports")).json.imports.length,
      };
    };
    // Tokens of embeds are few for an address, so this is not asked again and again.
    const isEmbedded = async () =>
      (await stack().api.as(embedToken).post(`/api/embed/sessions/${embed.id}/runs/data`, {})).text.includes(run.id);
    const open = { statuses: [200, 200, 200, 200, 200], reports: [1, 1], views: 2, imports: 1 };
    expect([await state(), await isEmbedded()]).toEqual([open, true]);
    expect((await browser.call("DELETE", `/projects/${projectId}`)).status).toBe(200);
    const closed = { statuses: [404, 401, 404, 404, 404], reports: [0, 0], views: 0, imports: 0 };
    await until("every service to know", async () => (await api.get(`/api/runs/${run.id}/logs`)).status === 404);
    expect([await state(), await isEmbedded()]).toEqual([closed, false]);
    const refused = await browser.post("/api/reports", { title: "t", project_id: projectId });
    const refusedView = await browser.post("/api/workspace-views", { name: "v", project: "p" });
    expect([refused.status, refusedView.status]).toEqual([404, 404]);
    expect((await browser.post(`/projects/${projectId}/restore`, {})).status).toBe(200);
    await until("every service to know", async () => (await api.get(`/api/runs/${run.id}/logs`)).status === 200);
    expect([await state(), await isEmbedded()]).toEqual([open, true]);
  });

  test("a dry run says what would go, and takes true and false only", async () => {
    const team = await createTeam(stack());
    const api = await keyOf(stack(), team.owner);
    const run = await makeFullRun(api, "p");
    const counts = { runs: 1, points: 2, lines: 1, attributes: 1, objects: 1, artifacts: 2, traces: 1 };
    const { browser } = team.owner;
    for (const path of [`/runs/${run.id}`, `/projects/${run.projectId}`]) {
      const dry = await browser.call("DELETE", `${path}?dry_run=true`);
      expect([path, dry.status, dry.json.counts]).toEqual([path, 200, counts]);
      expect(dry.json.bytes).toBeGreaterThan(100);
      const refused = await browser.call("DELETE", `${path}?dry_run=1`);
      expect([refused.status, refused.json.field]).toEqual([400, "dry_run"]);
      expect((await api.get(`/runs/${run.id}`)).status).toBe(200);
    }
    expect((await browser.call("DELETE", `/runs/${run.id}?dry_run=false`)).status).toBe(200);
    expect((await browser.call("DELETE", `/runs/${run.id}?dry_run=true`)).status).toBe(404);
    expect((await browser.call("DELETE", `/projects/${run.projectId}`)).status).toBe(200);
    expect((await browser.call("DELETE", `/projects/${run.projectId}?dry_run=true`)).status).toBe(404);
  });

  test("lists of what is deleted are for owners and admins who are signed in", async () => {
    const team = await createTeam(stack());
    const api = await keyOf(stack(), team.owner);
    const made = (await api.post("/runs", { project: "p" })).json.run;
    const other = (await api.post("/runs", { project: "q" })).json.run;
    await api.call("DELETE", `/runs/${made.id}`);
    await team.owner.browser.call("DELETE", `/projects/${other.project_id}`);
    const admin = await team.join("admin");
    for (const { browser } of [team.owner, admin]) {
      const { runs } = (await browser.get("/runs?deleted=true")).json;
      expect(runs.map(({ id, deleted_at }: { id: string; deleted_at: string }) => [id, typeof deleted_at])).toEqual([
        [made.id, "string"],
      ]);
      const { projects, total } = (await browser.get("/projects?deleted=true")).json;
      expect([projects.map(({ id }: { id: string }) => id), total]).toEqual([[other.project_id], 1]);
    }
    for (const [field, value] of [
      ["q", "p"],
      ["stale", "true"],
      ["sort_by", "name"],
    ]) {
      const refused = await team.owner.browser.get(`/runs?deleted=true&${field}=${value}`);
      expect([refused.status, refused.json.field]).toEqual([400, field]);
    }
    const [member, viewer] = [await team.join("member"), await team.join("viewer")];
    for (const path of ["/runs", "/projects"]) {
      for (const by of [member.browser, viewer.browser, api]) {
        expect((await by.get(`${path}?deleted=true`)).status).toBe(403);
        expect((await by.get(`${path}?deleted=false`)).status).toBe(200);
      }
      expect((await api.get(`${path}?deleted=yes`)).status).toBe(400);
    }
  });

  test("is for those who may: members for runs, owners and admins for projects", async () => {
    const team = await createTeam(stack());
    const { id, project_id: projectId } = (await (await keyOf(stack(), team.owner)).post("/runs", {})).json.run;
    const ingest = stack().api.as(
      (await team.owner.browser.post(`/api/orgs/${team.orgId}/api-keys`, { scopes: ["sdk:ingest", "export:read"] }))
        .json.api_key as string,
    );
    const [viewer, member] = [await team.join("viewer"), await team.join("member")];
    const all = [
      ["DELETE", `/runs/${id}`],
      ["POST", `/runs/${id}/restore`],
      ["DELETE", `/projects/${projectId}`],
      ["POST", `/projects/${projectId}/restore`],
    ] as const;
    for (const [method, path] of all) {
      expect((await viewer.browser.call(method, path)).status).toBe(403);
      expect((await stack().api.call(method, path, { key: null })).status).toBe(401);
      expect([401, 403]).toContain((await ingest.call(method, path)).status);
    }
    for (const [method, path] of all.slice(2)) expect((await member.browser.call(method, path)).status).toBe(403);
    for (const [method, path] of all.slice(0, 2)) expect((await member.browser.call(method, path)).status).toBe(200);
  });

  test("is in the audit log", async () => {
    const team = await createTeam(stack());
    const api = await keyOf(stack(), team.owner);
    const { id, project_id: projectId } = (await api.post("/runs", {})).json.run;
    await api.call("DELETE", `/runs/${id}`);
    await api.call("POST", `/runs/${id}/restore`);
    await api.call("PATCH", `/projects/${projectId}`, { body: { name: "other" } });
    await team.owner.browser.call("DELETE", `/projects/${projectId}`);
    await team.owner.browser.post(`/projects/${projectId}/restore`, {});
    const report = (await api.post("/api/reports", { title: "t", project_id: projectId })).json.report;
    expect((await team.owner.browser.post(`/api/reports/${report.id}/share`, {})).status).toBe(200);
    const { events } = (await team.owner.browser.get(`/api/orgs/${team.orgId}/audit?limit=6`)).json;
    type Event = { action: string; actor: { type: string; id: string }; target: { type: string; id: string } };
    expect((events as Event[]).map(({ action, actor, target }) => [action, actor.type, target.id])).toEqual([
      ["report.shared", "user", report.id],
      ["project.restored", "user", projectId],
      ["project.deleted", "user", projectId],
      ["project.renamed", "api_key", projectId],
      ["run.restored", "api_key", id],
      ["run.deleted", "api_key", id],
    ]);
    expect((events as Event[])[5]!.actor.id).toMatch(/^[0-9a-f-]{36}$/);
  });
});
