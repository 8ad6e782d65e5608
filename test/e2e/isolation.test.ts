import { expect, test } from "@jest/globals";
import { randomUUID } from "node:crypto";
import type { Api, Answer } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";
import { dialectRoutes } from "@tidemark/gateway/dialects";
import { dialectCalls, sentAs } from "../stack/dialect-calls.ts";
import { bodies, operations } from "../stack/operations.ts";
import { queryDatabase } from "../stack/attach.ts";

// One organization must not learn what another has: every route with an id in its path, taken
// from the API's own description, is called for a foreign row and for one that does not exist.

const CANARY = "sentinel-7f3a";

describeModes("isolation of organizations", (stack) => {
  test("on every route a foreign run is answered as one that does not exist, and never shown", async () => {
    const owner = await stack().organization();
    const stranger = await stack().organization();
    const { id } = (await owner.api.post("/runs", { name: CANARY, project: CANARY, config: { secret: CANARY } })).json
      .run;
    await owner.api.post(`/runs/${id}/metrics`, { metrics: { [CANARY]: 1 }, step: 0 });
    await owner.api.post(`/api/runs/${id}/logs`, { lines: [{ line_number: 1, message: CANARY }] });
    await owner.api.post(`/api/runs/${id}/attributes`, { path: CANARY, type: "config", value: CANARY });

    await owner.api.post(`/api/runs/${id}/objects`, { key: CANARY, kind: "table", rows: [{ a: CANARY }] });

    const withRun = (await operations(stack().api)).filter(({ path }) => path.includes("{run_id}"));
    expect(withRun.length).toBeGreaterThanOrEqual(9);
    const missing = randomUUID();
    for (const { method, path } of withRun) {
      const ask = (run: string, api: Api): Promise<Answer> => {
        const body = bodies[`${method} ${path}`];
        const headers = { "idempotency-key": randomUUID() };
        return api.call(method, path.replace("{run_id}", run), body === undefined ? {} : { body, headers });
      };
      const foreign = await ask(id, stranger.api);
      const absent = await ask(missing, stranger.api);
      expect([method, path, foreign.status]).toEqual([method, path, 404]);
      expect(foreign.text).toBe(absent.text);
      expect(JSON.stringify(foreign.headers)).not.toContain(CANARY);
    }
    for (const path of ["/runs", "/projects", `/runs?project=${CANARY}`, "/api/objects/explorer", "/api/export"]) {
      expect((await stranger.api.get(path)).text).not.toContain(CANARY);
    }
    expect((await stranger.api.post("/api/metrics/series", { key: CANARY, run_ids: [id] })).status).toBe(404);
    expect((await stranger.api.get(`/api/export?run_ids=${id}`)).status).toBe(404);
    const run = (await owner.api.get(`/runs/${id}`)).json.run;
    expect(run).toMatchObject({ status: "running", metric_keys: [CANARY] });
  });

  test("a foreign organization's own routes are 404 for a key, regardless of its scopes", async () => {
    const owner = await stack().organization();
    const stranger = await stack().organization({ scopes: ["sdk:ingest", "export:read", "api_keys:write"] });
    const withOrg = (await operations(stack().api)).filter(({ path }) => path.includes("{org_id}"));
    expect(withOrg.length).toBeGreaterThanOrEqual(5);
    for (const { method, path } of withOrg) {
      const filled = path.replace("{org_id}", owner.orgId).replaceAll(/\{[a-z_]+\}/g, randomUUID());
      const body = bodies[`${method} ${path}`];
      const answer = await stranger.api.call(method, filled, body === undefined ? {} : { body });
      expect([401, 403, 404]).toContain(answer.status);
      expect(answer.text).not.toContain(owner.orgId);
    }
    const operator = { key: null, headers: { "x-svc-bootstrap-token": stack().bootstrapToken } };
    const keys = await stack().api.get(`/api/orgs/${owner.orgId}/api-keys`, operator);
    expect(keys.json.api_keys).toHaveLength(1);
  });

  test("dialects answer foreign ids like unknown ones, and refuse callers without credentials", async () => {
    const routes = dialectRoutes.map(({ method, path }) => `${method} ${path}`);
    expect(Object.keys(dialectCalls).toSorted()).toEqual(routes.toSorted());
    const owner = await stack().organization();
    const stranger = await stack().organization();
    await owner.api.post("/projects", { name: "another" });
    const { id } = (await owner.api.post("/runs", { name: CANARY, project: CANARY })).json.run;
    const mlflow = (path: string, body: object) => owner.api.post(`/api/2.0/mlflow/${path}`, body);
    const model = (await mlflow("logged-models", { experiment_id: "2", name: CANARY })).json.model.info
      .model_id as string;
    await mlflow("registered-models/create", { name: CANARY });
    await mlflow("model-versions/create", { name: CANARY, source: CANARY });
    const hex = () => randomUUID().replaceAll("-", "");
    const foreignIds = {
      mlflowRun: id.replaceAll("-", ""),
      mlflowExperiment: "2",
      mlflowModel: model,
      mlflowRegistered: CANARY,
    };
    const missing = { mlflowRun: hex(), mlflowExperiment: "9", mlflowModel: `m-${hex()}`, mlflowRegistered: "missing" };
    for (const [route, { fields, namesRows, status = namesRows ? 404 : 200 }] of Object.entries(dialectCalls)) {
      const ask = ({ method, path, body }: ReturnType<typeof sentAs>, api: Api): Promise<Answer> =>
        api.call(method, path, body === undefined ? {} : { body });
      const foreign = await ask(sentAs(route, fields(foreignIds)), stranger.api);
      const absent = namesRows ? await ask(sentAs(route, fields(missing)), stranger.api) : foreign;
      expect(foreign.text).not.toContain(CANARY);
      expect([route, foreign.status, foreign.text]).toEqual([route, absent.status, absent.text]);
      expect([route, foreign.status]).toEqual([route, status]);
      const anonymous = await ask(sentAs(route, fields(foreignIds)), stack().api);
      expect([route, anonymous.status]).toEqual([route, 401]);
    }
  });

  test("views and embed sessions show nothing of a foreign organization", async () => {
    const [owner, stranger] = [await stack().organization(), await stack().organization()];
    const newRun = async (api: Api): Promise<string> =>
      (await api.post("/runs", { name: CANARY, project: CANARY })).json.run.id;
    const [secret, own] = [await newRun(owner.api), await newRun(stranger.api)];
    await owner.api.post(`/runs/${secret}/metrics`, { metrics: { [CANARY]: 1 }, step: 0 });

    const ask = {
      view: (runIds: string[]) =>
        stranger.api.post("/api/workspace-view-data", { view: { metricKey: CANARY }, run_ids: runIds }),
      embed: (runIds: string[], api = stranger.api) =>
        api.post("/api/embed/sessions", { run_ids: runIds, allowed_parent_origin: "https://portal.test" }),
    };
    for (const send of [ask.view, ask.embed]) {
      const [foreign, absent] = [await send([own, secret]), await send([own, randomUUID()])];
      expect([foreign.status, foreign.text]).toEqual([404, absent.text]);
    }

    const [mine, theirs] = [(await ask.embed([own])).json, (await ask.embed([secret], owner.api)).json];
    const dataOf = (session: string, token: string): Promise<Answer> =>
      stack().api.as(token).post(`/api/embed/sessions/${session}/runs/data`, {});
    const [crossed, missing] = [
      await dataOf(theirs.embed_session.id, mine.embed_token),
      await dataOf(randomUUID(), mine.embed_token),
    ];
    expect([crossed.status, crossed.text]).toEqual([401, missing.text]);
    expect((await stack().api.as(mine.embed_token).get(`/runs/${own}`)).status).toBe(401);
    expect((await dataOf(theirs.embed_session.id, theirs.embed_token)).text).toContain(CANARY);

    // Even a session that names a foreign run shows only what its key may see.
    await queryDatabase(stack(), "UPDATE reports.embed_sessions SET run_ids = $2::uuid[] WHERE id = $1", [
      mine.embed_session.id,
      [own, secret],
    ]);
    expect((await dataOf(mine.embed_session.id, mine.embed_token)).status).toBe(404);
  });

  test("one idempotency key in two organizations is two keys", async () => {
    const [first, second] = await Promise.all([stack().organization(), stack().organization()]);
    for (const { api } of [first, second]) {
      const { id } = (await api.post("/runs", {})).json.run;
      const answer = await api.post(
        `/runs/${id}/metrics`,
        { metrics: { a: 1 }, step: 0 },
        { headers: { "idempotency-key": "same" } },
      );
      expect(answer).toMatchObject({ status: 200, json: { inserted: 1 } });
      expect(answer.headers["idempotency-replayed"]).toBeUndefined();
    }
  });

  test("every route that is not public refuses a caller without credentials", async () => {
    const open = new Set([
      "/health",
      "/healthz",
      "/readyz",
      "/metrics",
      "/openapi.json",
      "/api/auth/config",
      "/api/auth/session",
      "/api/auth/logout",
      "/api/auth/dev/google",
      // The body has the credential.
      "/api/auth/api-key",
      "/api/auth/one-time",
      "/api/auth/invitation",
      "/api/auth/device-code/start",
      "/api/auth/device-code/poll",
      "/api/orgs/name-availability",
      "/api/embed/sessions/{session_id}/frame-policy",
      "/embed/runs/{session_id}",
      "/api/invitations/preview",
      // The token in the path is the credential.
      "/api/reports/share/{share_token}",
      "/api/reports/share/{share_token}/view-data",
      "/api/upload-parts/{token}",
    ]);
    for (const { method, path } of await operations(stack().api)) {
      if (open.has(path)) continue;
      const answer = await stack().api.call(
        method,
        path.replaceAll(/\{[a-z_]+\}/g, randomUUID()),
        method === "GET" ? {} : { body: {} },
      );
      expect([method, path, answer.status]).toEqual([method, path, 401]);
    }
  });
});
