import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { describe, expect, test } from "@jest/globals";
import type { Api } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";
import { createTeam } from "../stack/people.ts";

const blocks = [
  { kind: "heading", level: 2, text: "Results" },
  { kind: "panel_grid", runsets: [{ name: "main", projects: ["p"] }], panels: [{ type: "line", metric_key: "loss" }] },
];

const create = async (api: Pick<Api, "post">, more: object = {}): Promise<string> => {
  const answer = await api.post("/api/reports", { title: "Weekly", blocks, ...more });
  expect(answer.status).toBe(200);
  return answer.json.report.id as string;
};
const share = async (api: Pick<Api, "post">, id: string): Promise<string> =>
  (await api.post(`/api/reports/${id}/share`)).json.report.share_token as string;

describeModes("reports", (stack) => {
  test("are written, read, changed, listed and deleted", async () => {
    const { api, orgId } = await stack().organization();
    const id = await create(api, { description: null });
    const { report } = (await api.get(`/api/reports/${id}`)).json;
    expect(report).toEqual({
      schema_version: 1,
      id,
      org_id: orgId,
      project_id: null,
      title: "Weekly",
      description: null,
      blocks,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      author_user_id: null,
      share_token: null,
      share_token_issued_at: null,
      visibility: "private",
      deleted_at: null,
    });
    const changed = await api.patch(`/api/reports/${id}`, { title: "Daily", description: "d", blocks: [] });
    expect(changed.json.report).toMatchObject({ title: "Daily", description: "d", blocks: [] });
    const list = (await api.get("/api/reports")).json;
    expect(list).toMatchObject({
      limit: 50,
      offset: 0,
      total: 1,
      reports: [{ id, block_count: 0, has_share_token: false }],
    });
    expect((await api.get("/api/reports?project=all&limit=1&offset=1")).json).toMatchObject({ reports: [], total: 1 });
    const deleted = await api.call("DELETE", `/api/reports/${id}`);
    expect(deleted.json.report.deleted_at).toEqual(expect.any(String));
    expect((await api.get(`/api/reports/${id}`)).status).toBe(404);
    expect((await api.get("/api/reports")).json).toMatchObject({ reports: [], total: 0 });
  });

  test("of a session name their author", async () => {
    const { owner } = await createTeam(stack());
    const id = await create(owner.browser);
    expect((await owner.browser.get(`/api/reports/${id}`)).json.report.author_user_id).toBe(owner.userId);
  });

  test("keep what was sent: digits, extra members, empty texts", async () => {
    const { api } = await stack().organization();
    const rawBody = '{"title":"t","blocks":[{"kind":"markdown","text":"","seed":12345678901234567890}]}';
    const { json } = await api.call("POST", "/api/reports", {
      rawBody,
      headers: { "content-type": "application/json" },
    });
    const { text } = await api.get(`/api/reports/${json.report.id}`);
    expect(text).toContain('[{"kind":"markdown","text":"","seed":12345678901234567890}]');
  });

  test("are read as Markdown, which is text", async () => {
    const { api } = await stack().organization();
    const id = await create(api, { description: "d" });
    const answer = await api.get(`/api/reports/${id}/markdown`);
    expect([answer.status, answer.headers["content-type"]]).toEqual([200, "text/markdown; charset=utf-8"]);
    expect(answer.headers["x-content-type-options"]).toBe("nosniff");
    expect(answer.text).toBe(
      "# Weekly\n\nd\n\n## Results\n\n> Panels are interactive and not part of this text.\n> - **main**: p\n\n",
    );
  });

  test("show their panels", async () => {
    const { api } = await stack().organization();
    const id = await create(api);
    const { json } = await api.get("/api/reports/panels");
    expect(json).toEqual({
      panels: [{ report_id: id, report_title: "Weekly", panel_index: 0, panel_spec: blocks[1]!.panels![0] }],
      next_cursor: null,
    });
  });

  describe("are refused with", () => {
    test.each<[string, object, string | undefined]>([
      ["no title", {}, "title"],
      ["a block of an unknown kind", { title: "t", blocks: [{ kind: "video" }] }, "blocks"],
      [
        "257 blocks",
        { title: "t", blocks: Array.from({ length: 257 }, () => ({ kind: "horizontal_rule" })) },
        "blocks",
      ],
      ["a block above 32 KiB", { title: "t", blocks: [{ kind: "paragraph", text: "x".repeat(32 * 1024) }] }, "blocks"],
      [
        "blocks above 256 KiB",
        { title: "t", blocks: Array.from({ length: 9 }, () => ({ kind: "paragraph", text: "x".repeat(30_000) })) },
        "blocks",
      ],
    ])("400 for %s", async (_what, body, field) => {
      const { api } = await stack().organization();
      expect(await api.post("/api/reports", body)).toMatchObject({ status: 400, json: { field } });
      const id = await create(api);
      const patched = await api.patch(`/api/reports/${id}`, { ...body, title: undefined });
      expect(patched.status).toBe(400);
    });

    test("400 for a page that there is not", async () => {
      const { api } = await stack().organization();
      for (const query of ["?limit=201", "?limit=0", "?offset=-1", "/panels?limit=1001", "/panels?cursor=x"]) {
        expect([query, (await api.get(`/api/reports${query}`)).status]).toEqual([query, 400]);
      }
    });

    test("401 without credentials", async () => {
      const { api } = await stack().organization();
      const id = await create(api);
      const one = `/api/reports/${id}`;
      for (const [method, path] of [
        ["GET", "/api/reports"],
        ["POST", "/api/reports"],
        ["GET", "/api/reports/panels"],
        ["GET", one],
        ["GET", `${one}/markdown`],
        ["GET", `${one}?share=tm_share_x`],
        ["PATCH", one],
        ["DELETE", one],
        ["POST", `${one}/share`],
      ] as const) {
        const answer = await stack().api.call(method, path, method === "GET" ? {} : { body: { title: "t" } });
        expect([method, path, answer.status]).toEqual([method, path, 401]);
      }
    });

    test("403 for a key without the scope, and for a viewer who writes", async () => {
      const { api, orgId } = await stack().organization();
      const id = await create(api);
      const reader = (await stack().organization({ scopes: ["export:read"] })).api;
      const stop = (await stack().organization({ scopes: ["runs:control"] })).api;
      expect((await reader.post("/api/reports", { title: "t" })).status).toBe(403);
      expect(orgId).not.toBe("");
      for (const path of ["/api/reports", "/api/reports/panels", `/api/reports/${id}`, `/api/reports/${id}/markdown`]) {
        expect([path, (await stop.get(path)).status]).toEqual([path, 403]);
      }
      const team = await createTeam(stack());
      const own = await create(team.owner.browser);
      const { browser } = await team.join("viewer");
      expect((await browser.get(`/api/reports/${own}`)).status).toBe(200);
      for (const [method, path] of [
        ["POST", "/api/reports"],
        ["PATCH", `/api/reports/${own}`],
        ["DELETE", `/api/reports/${own}`],
        ["POST", `/api/reports/${own}/share`],
      ] as const) {
        const answer = await browser.call(method, path, { body: { title: "t" } });
        expect([method, path, answer.status]).toEqual([method, path, 403]);
      }
      const elsewhere = await team.owner.browser.call("POST", "/api/reports", {
        body: { title: "t" },
        headers: { origin: "https://elsewhere.test" },
      });
      expect(elsewhere.status).toBe(403);
    });

    test("404 for what another organization has, before the body is judged", async () => {
      const [owner, stranger] = [await stack().organization(), await stack().organization()];
      const id = await create(owner.api);
      for (const wanted of [id, randomUUID(), "no-id"]) {
        const one = `/api/reports/${wanted}`;
        for (const [method, path] of [
          ["GET", one],
          ["GET", `${one}/markdown`],
          ["PATCH", one],
          ["DELETE", one],
          ["POST", `${one}/share`],
        ] as const) {
          const answer = await stranger.api.call(method, path, method === "PATCH" ? { body: {} } : {});
          expect([method, path, answer.status, answer.json]).toEqual([
            method,
            path,
            404,
            { error: "report not found" },
          ]);
        }
      }
      expect((await owner.api.get(`/api/reports/${id}`)).status).toBe(200);
      expect((await stranger.api.get("/api/reports")).json.total).toBe(0);
      expect((await stranger.api.get("/api/reports/panels")).json.panels).toEqual([]);
    });
  });

  test("are written by a key of one project for that project alone", async () => {
    const { api, orgId } = await stack().organization();
    const projectId = (await api.post("/projects", { name: "p" })).json.project.id as string;
    const operator = { headers: { "x-svc-bootstrap-token": stack().bootstrapToken } };
    const made = await stack().api.post(`/api/orgs/${orgId}/api-keys`, { project_id: projectId }, operator);
    const scoped = stack().api.as(made.json.api_key as string);
    const [own, general] = [await create(scoped), await create(api)];
    expect((await scoped.get(`/api/reports/${own}`)).json.report.project_id).toBe(projectId);
    expect((await scoped.get(`/api/reports/${general}`)).status).toBe(404);
    expect((await scoped.get("/api/reports")).json.total).toBe(1);
    expect((await api.get(`/api/reports?project=${projectId}`)).json.total).toBe(1);
    expect((await scoped.post("/api/reports", { title: "t", project_id: randomUUID() })).status).toBe(403);
  });
});

describeModes("share links", (stack) => {
  test("open the blocks of one report for every caller, and end when they are replaced", async () => {
    const { api, orgId } = await stack().organization();
    const id = await create(api);
    const first = await share(api, id);
    expect((await api.get("/api/reports")).json.reports[0].has_share_token).toBe(true);
    expect((await api.get(`/api/reports/${id}`)).json.report).toMatchObject({ share_token: null, org_id: orgId });
    const paths = (token: string) => [`/api/reports/share/${token}`, `/api/reports/${id}?share=${token}`];
    for (const path of paths(first)) {
      const { status, json, text } = await stack().api.get(path);
      expect([status, json.report.blocks]).toEqual([200, blocks]);
      for (const hidden of ["share_token", "author_user_id", "org_id"]) expect(json.report).not.toHaveProperty(hidden);
      expect(text).not.toContain(orgId);
    }
    expect((await stack().api.get(`/api/reports/${id}/markdown?share=${first}`)).text).toContain("# Weekly");
    // The organization sees the whole row, with or without the token.
    expect((await api.get(paths(first)[1]!)).json.report.org_id).toBe(orgId);
    const second = await share(api, id);
    expect(await Promise.all(paths(first).map(async (path) => (await stack().api.get(path)).status))).toEqual([
      404, 401,
    ]);
    expect(await Promise.all(paths(second).map(async (path) => (await stack().api.get(path)).status))).toEqual([
      200, 200,
    ]);
    await api.call("DELETE", `/api/reports/${id}`);
    expect(await Promise.all(paths(second).map(async (path) => (await stack().api.get(path)).status))).toEqual([
      404, 401,
    ]);
  });

  test("open nothing else, of any organization", async () => {
    const [owner, other] = [await stack().organization(), await stack().organization()];
    const run = async (api: Api) => (await api.post("/runs", { name: "secret" })).json.run.id as string;
    const [ownRun, otherRun] = [await run(owner.api), await run(other.api)];
    const [id, own, foreign] = [await create(owner.api), await create(owner.api), await create(other.api)];
    const token = await share(owner.api, id);
    const ids = [ownRun, otherRun, id, own, foreign, owner.orgId, other.orgId];
    const { json } = await stack().api.get("/openapi.json");
    let asked = 0;
    for (const [path, methods] of Object.entries(
      json.paths as Record<string, Record<string, { security: object[] }>>,
    )) {
      for (const [method, { security }] of Object.entries(methods)) {
        // These routes accept requests without credentials.
        if (security.length === 0) continue;
        for (const known of path.includes("{") ? ids : ["none"]) {
          const filled = path.replaceAll(/\{[a-z_]+\}/g, known);
          if (method === "get" && filled.startsWith(`/api/reports/${id}`)) continue;
          for (const [address, headers] of [
            [`${filled}?share=${token}`, {}],
            [filled, { authorization: `Bearer ${token}` }],
            [filled, { cookie: `tidemark_session=${token}`, origin: stack().baseUrl }],
          ] as const) {
            let answer = await stack().api.call(method.toUpperCase(), address, { headers });
            // Routes of embed sessions have a limit that is always on.
            while (answer.status === 429) {
              await setTimeout(1000 * Number(answer.headers["retry-after"]));
              answer = await stack().api.call(method.toUpperCase(), address, { headers });
            }
            expect([method, address, answer.status]).toEqual([method, address, 401]);
            asked += 1;
          }
        }
      }
    }
    expect(asked).toBeGreaterThan(1000);
  });

  test("of public reports are not needed", async () => {
    const { api } = await stack().organization();
    const stop = (await stack().organization({ scopes: ["runs:control"] })).api;
    const id = await create(api, { visibility: "public" });
    for (const reader of [stack().api, stop, (await stack().organization()).api, stack().api.as("tm_nonsense")]) {
      const { status, json } = await reader.get(`/api/reports/${id}`);
      expect([status, json.report.id]).toEqual([200, id]);
      expect(json.report).not.toHaveProperty("org_id");
    }
    await api.patch(`/api/reports/${id}`, { visibility: "private" });
    expect((await stack().api.get(`/api/reports/${id}`)).status).toBe(401);
  });
});
