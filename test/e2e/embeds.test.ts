import { randomUUID } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import type { Answer, Api } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";
import { signIn } from "../stack/people.ts";

const SESSIONS = "/api/embed/sessions";
const ORIGIN = "https://portal.test";

type Made = { id: string; token: string; iframe: string; expiresAt: string };

async function newRun(api: Api, losses: readonly number[] = [], config: object = {}): Promise<string> {
  const { id } = (await api.post("/runs", { project: "p", config })).json.run as { id: string };
  for (const [step, loss] of losses.entries()) await api.post(`/runs/${id}/metrics`, { step, metrics: { loss } });
  return id;
}

async function newEmbed(api: Api, runIds: readonly string[], more: object = {}): Promise<Made> {
  const { status, json } = await api.post(SESSIONS, { run_ids: runIds, allowed_parent_origin: ORIGIN, ...more });
  expect(status).toBe(200);
  const { id, iframe_src: iframe, expires_at: expiresAt } = json.embed_session;
  return { id, token: json.embed_token, iframe, expiresAt };
}

describeModes("embed sessions", (stack) => {
  const current = ({ id, token }: Made): Promise<Answer> => stack().api.as(token).get(`${SESSIONS}/${id}/current`);
  const data = ({ id, token }: Made, body: object = {}): Promise<Answer> =>
    stack().api.as(token).post(`${SESSIONS}/${id}/runs/data`, body);
  const policy = async ({ id }: Pick<Made, "id">) =>
    (await stack().api.get(`${SESSIONS}/${id}/frame-policy`)).json.frame_policy;

  test("are created, shown, and read the data of their runs", async () => {
    const { api } = await stack().organization();
    const a = await newRun(api, [3, 1], { lr: 0.1 });
    const b = await newRun(api, [2], { lr: 0.2 });
    const made = await newEmbed(api, [a, b, a.toUpperCase()], { options: { theme: "dark" } });
    expect(made.token).toMatch(/^tm_embed_\w+$/);
    expect(made.iframe).toBe(`${stack().baseUrl}/embed/runs/${made.id}#token=${made.token}`);
    const shown = await current(made);
    expect([shown.status, shown.json]).toEqual([
      200,
      {
        embed_session: {
          id: made.id,
          expires_at: made.expiresAt,
          run_count: 2,
          theme: "dark",
          has_custom_view: false,
        },
      },
    ]);
    expect(await policy(made)).toEqual({
      session_id: made.id,
      status: "active",
      allowed_parent_origin: ORIGIN,
      expires_at: made.expiresAt,
    });
    const { status, json } = await data(made);
    expect(status).toBe(200);
    expect(json.view_data).toMatchObject({
      run_ids: [a, b],
      metric_keys: ["loss"],
      limits: { panels: 8, points_per_series: 500, total_points: 3 },
    });
    const kinds = (json.view_data.panels as { type: string }[]).map(({ type }) => type);
    expect(kinds).toEqual(["line", "histogram", "bar", "dot", "scatter", "distribution"]);
    const same = await api.post("/api/workspace-view-data", { view: { metricKey: "loss" }, run_ids: [a, b] });
    expect(json.view_data.metric_series).toEqual(same.json.view_data.metric_series);
    expect(json.view_data.runs).toEqual(same.json.view_data.runs);
    const narrow = await data(made, { options: { max_panels: 1, metric_point_limit: 1 }, refresh_reason: "timer" });
    expect(narrow.json.view_data).toMatchObject({ limits: { panels: 1, points_per_series: 1, total_points: 2 } });
  });

  test("keep their answers out of caches, refusals included", async () => {
    const { api } = await stack().organization();
    const made = await newEmbed(api, [await newRun(api)]);
    const bad = { ...made, token: "x" };
    const headers = {
      "cache-control": "private, no-store",
      pragma: "no-cache",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
    };
    for (const answer of [
      await api.post(SESSIONS, {}),
      await current(made),
      await current(bad),
      await data(made),
      await data(bad),
    ]) {
      expect(answer.headers).toMatchObject({ ...headers, vary: expect.stringContaining("Authorization") });
    }
    const open = await stack().api.get(`${SESSIONS}/${made.id}/frame-policy`);
    expect(open.headers).toMatchObject(headers);
    expect(open.headers["vary"]).toBeUndefined();
  });

  describe("are not created", () => {
    test("without the scope, by sessions, or without credentials", async () => {
      const writer = await stack().organization({ scopes: ["sdk:ingest"] });
      const { browser } = await signIn(stack());
      expect((await writer.api.post(SESSIONS, {})).status).toBe(403);
      expect((await browser.post(SESSIONS, {})).status).toBe(401);
      expect((await stack().api.post(SESSIONS, {})).status).toBe(401);
    });

    test("for runs that the key may not see", async () => {
      const { api } = await stack().organization();
      const other = await stack().organization();
      const foreign = await newRun(other.api);
      const [first, second] = await Promise.all(
        [foreign, randomUUID()].map((id) => api.post(SESSIONS, { run_ids: [id], allowed_parent_origin: ORIGIN })),
      );
      expect([first!.status, first!.text]).toEqual([404, second!.text]);
    });

    test("for what is malformed", async () => {
      const { api } = await stack().organization();
      for (const [body, field] of [
        [{ run_ids: [], allowed_parent_origin: ORIGIN }, "run_ids"],
        [{ run_ids: [randomUUID()], allowed_parent_origin: `${ORIGIN}/` }, "allowed_parent_origin"],
      ] as const) {
        const answer = await api.post(SESSIONS, body);
        expect([answer.status, answer.json.field]).toEqual([400, field]);
      }
    });

    test("more often than twenty times a minute with one key, although limits are off", async () => {
      const { api } = await stack().organization();
      const runs = [await newRun(api)];
      for (let i = 0; i < 20; i += 1) await newEmbed(api, runs);
      const refused = await api.post(SESSIONS, { run_ids: runs, allowed_parent_origin: ORIGIN });
      expect([refused.status, refused.json.code]).toEqual([429, "embed_create_rate_limited"]);
      expect(Number(refused.headers["retry-after"])).toBeGreaterThanOrEqual(1);
    });
  });

  describe("do not open", () => {
    test("with another token, under another id, or with a key", async () => {
      const { api, key } = await stack().organization();
      const runs = [await newRun(api)];
      const [made, other] = [await newEmbed(api, runs), await newEmbed(api, runs)];
      for (const [id, token, status] of [
        [made.id, other.token, 401],
        [made.id, key, 401],
        [made.id, "x", 401],
        [randomUUID(), made.token, 401],
        ["no-id", made.token, 404],
      ] as const) {
        const asked = { ...made, id, token };
        expect([id, token, (await current(asked)).status]).toEqual([id, token, status]);
      }
      expect((await data({ ...made, token: other.token })).status).toBe(401);
      expect((await stack().api.get(`${SESSIONS}/${made.id}/current`)).status).toBe(401);
      expect((await stack().api.get("/runs", { key: made.token })).status).toBe(401);
      expect((await stack().api.get(`${SESSIONS}/${randomUUID()}/frame-policy`)).status).toBe(404);
    });
  });
});
