import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "@jest/globals";
import { until } from "@tidemark/testkit";
import type { Api } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";
import { FREE, smallPlans } from "../stack/settings.ts";
import { startedSpan } from "../stack/started-span.ts";

const { metric_points: POINTS, trace_events: EVENTS } = FREE;
const scopes = ["sdk:ingest", "export:read", "runs:control", "usage:read"];
const exceeded = { status: 402, json: { code: "plan_limit_exceeded", error: expect.any(String) } };

const usageOf = async (api: Api) => {
  const answer = await api.get("/api/usage");
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  return answer.json.organizations[0];
};
/** Values of some keys at a step. */
const values = (count: number, step = 0) => ({
  metrics: Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, i])),
  step,
});
const ranks = (count: number) => ({ ...values(count), rank: 0, world_size: 1 });
const spans = (count: number) => ({ events: Array.from({ length: count }, (_, i) => startedSpan(i + 1)) });
const sendSpans = (api: Api, id: string, count: number, key: string) =>
  api.post(`/api/runs/${id}/traces/events`, spans(count), { headers: { "idempotency-key": key } });

describeModes(
  "usage",
  (stack) => {
    describe("the document", () => {
      test("of a new organization has zeros and no warnings", async () => {
        const { api, orgId } = await stack().organization({ plan: "pro", scopes });
        const { json } = await api.get("/api/usage");
        expect(json).toMatchObject({
          schema_version: 1,
          source: "computed_current_state",
          billing_precision: "not_billable",
          limits_enforced: true,
          usage_period: { kind: "calendar_month", timezone: "UTC" },
          overage_policy: { api_requests: "blocked_or_metered_overage" },
        });
        const now = new Date();
        expect(json.usage_period.starts_at).toBe(
          new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1)).toISOString(),
        );
        expect(json.organizations).toHaveLength(1);
        expect(json.organizations[0]).toMatchObject({
          org_id: orgId,
          plan_tier: "pro",
          limits: { included_seats: 3, projects: 100, runs: 100_000, metric_points: 250_000_000 },
          usage: { projects: 0, runs: 0, metric_points: 0, trace_events: 0, api_keys: 1, artifact_bytes_exact: 0 },
          warnings: [],
        });
      });

      test("shows what is stored", async () => {
        const { api } = await stack().organization({ plan: "pro", scopes });
        const { id } = (await api.post("/runs", { project: "one" })).json.run;
        await api.post("/runs", { project: "two" });
        await api.post(`/runs/${id}/metrics`, values(3));
        await api.post(`/runs/${id}/metrics/batch`, { points: [values(2, 1), values(4, 2)] });
        await api.post(`/runs/${id}/rank-metrics`, ranks(5));
        expect((await sendSpans(api, id, 4, "spans")).status).toBe(200);
        const content = Buffer.alloc(1234, 7).toString("base64");
        const upload = { name: "a.bin", content_base64: content };
        expect((await api.post(`/api/runs/${id}/artifacts/upload`, upload)).status).toBe(200);
        const { usage } = await usageOf(api);
        expect(usage).toMatchObject({
          projects: 2,
          runs: 2,
          metric_points: 14,
          metric_points_current_period: 14,
          metric_points_retained_total: 14,
          metric_series: 4,
          trace_events: 4,
          raw_artifacts: 1,
          artifact_bytes_exact: 1234,
        });
        const kinds: Record<string, number> = usage.storage_bytes_by_kind;
        expect(Object.keys(kinds)).toEqual([
          "artifacts",
          "points",
          "logs",
          "attributes",
          "objects",
          "documents",
          "traces",
          "reports",
        ]);
        expect(kinds).toMatchObject({ artifacts: 1234 + 512, points: 14 * 16 + 4 * 256 });
        expect(usage.storage_bytes_for_write_gate).toBe(Object.values(kinds).reduce((sum, bytes) => sum + bytes));
        await until("requests to be reported", async () => (await usageOf(api)).usage.api_requests >= 8);
        expect((await api.get("/api/usage/export")).json.organizations[0].usage).toMatchObject({ metric_points: 14 });
      });

      test("warns before a limit is reached, and says when the month will be used up", async () => {
        const { api } = await stack().organization({ plan: "free", scopes });
        const { id } = (await api.post("/runs", {})).json.run;
        await api.post(`/runs/${id}/metrics`, values(32));
        const document = await usageOf(api);
        expect(document.warnings).toEqual([
          {
            target: "metric_points",
            status: "approaching_limit",
            value: 32,
            limit: POINTS,
            ratio: 0.8,
            policy: "blocked_at_limit",
            blocking: false,
            code: "metric_points_approaching_limit",
            message: `32 of ${POINTS} metric points of this month are used`,
          },
        ]);
        expect(document.forecast.metric_points.projected).toBeGreaterThanOrEqual(32);
        expect(document.forecast.trace_events).toEqual({ projected: 0, used_up_on: null });
      });

      test("is for keys that may see it, of the whole organization", async () => {
        const { orgId, api, key } = await stack().organization({ plan: "pro", scopes });
        const operator = { key: null, headers: { "x-svc-bootstrap-token": stack().bootstrapToken } };
        const keyOf = async (body: object): Promise<string> =>
          (await api.post(`/api/orgs/${orgId}/api-keys`, { name: "k", ...body }, operator)).json.api_key;
        const project = (await api.post("/projects", { name: "p" })).json.project;
        const statusOf = async (of: string | null) => (await api.get("/api/usage", { key: of })).status;
        expect(await statusOf(null)).toBe(401);
        expect(await statusOf(key)).toBe(200);
        expect(await statusOf(await keyOf({ scopes: ["export:read"] }))).toBe(200);
        expect(await statusOf(await keyOf({ scopes: ["sdk:ingest"] }))).toBe(403);
        expect(await statusOf(await keyOf({ scopes: ["usage:read"], project_id: project.id }))).toBe(403);
      });
    });

    describe("the quotas of a plan", () => {
      test("metric points: 402 above the limit, ranks included; reads and repeats continue", async () => {
        const { api } = await stack().organization({ plan: "free", scopes });
        const { id } = (await api.post("/runs", {})).json.run;
        const key = { headers: { "idempotency-key": "first" } };
        expect((await api.post(`/runs/${id}/metrics`, values(POINTS - 5), key)).status).toBe(200);
        expect((await api.post(`/runs/${id}/rank-metrics`, ranks(4))).status).toBe(200);
        expect(await api.post(`/runs/${id}/metrics`, values(2))).toMatchObject(exceeded);
        expect(await api.post(`/runs/${id}/metrics/batch`, { points: [values(1), values(1, 1)] })).toMatchObject(
          exceeded,
        );
        expect(await api.post(`/runs/${id}/rank-metrics`, ranks(2))).toMatchObject(exceeded);
        expect((await api.post(`/runs/${id}/metrics`, values(1, 7))).status).toBe(200);
        expect(await api.post(`/runs/${id}/metrics`, values(1, 8))).toMatchObject(exceeded);
        expect(await api.post(`/runs/${id}/metrics`, values(POINTS - 5), key)).toMatchObject({
          status: 200,
          headers: { "idempotency-replayed": "true" },
        });
        expect((await api.get(`/runs/${id}/metrics?key=k0`)).json.metrics).toHaveLength(2);
        expect((await api.post(`/api/runs/${id}/stop`, {})).status).toBe(200);
        expect((await api.post(`/api/runs/${id}/logs`, { lines: [{ line_number: 1, message: "x" }] })).status).toBe(
          200,
        );
        expect((await usageOf(api)).warnings).toContainEqual(
          expect.objectContaining({ target: "metric_points", status: "over_limit", blocking: true, value: POINTS }),
        );
      });

      test("trace events: 402 above the limit", async () => {
        const { api } = await stack().organization({ plan: "free", scopes });
        const { id } = (await api.post("/runs", {})).json.run;
        expect((await sendSpans(api, id, EVENTS, "a")).status).toBe(200);
        expect(await sendSpans(api, id, 1, "b")).toMatchObject(exceeded);
        expect((await api.get(`/api/traces?run_id=${id}`)).json.traces).toHaveLength(1);
      });

      test("runs: 402 above the limit, exactly", async () => {
        const { api } = await stack().organization({ plan: "free", scopes });
        const answers = await Promise.all(Array.from({ length: 12 }, () => api.post("/runs", {})));
        expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
        expect(answers.find(({ status }) => status !== 200)).toMatchObject(exceeded);
      });

      test("a larger plan lifts them immediately, in the process that learned of it", async () => {
        const { api, orgId } = await stack().organization({ plan: "free", scopes });
        const { id } = (await api.post("/runs", {})).json.run;
        await api.post(`/runs/${id}/metrics`, values(POINTS));
        expect(await api.post(`/runs/${id}/metrics`, values(1, 1))).toMatchObject(exceeded);
        const operator = { key: null, headers: { "x-svc-bootstrap-token": stack().bootstrapToken } };
        await api.patch(`/api/orgs/${orgId}`, { plan_tier: "pro" }, operator);
        expect((await api.post(`/runs/${id}/metrics`, values(1, 1))).status).toBe(200);
      });
    });

    test("account routes: 30 simultaneous requests with one credential, then 5 a second", async () => {
      const { orgId, api } = await stack().organization({ plan: "premium", scopes: ["api_keys:write", "export:read"] });
      const list = () => api.get(`/api/orgs/${orgId}/api-keys`);
      const answers = await Promise.all(Array.from({ length: 50 }, list));
      const refused = answers.filter(({ status }) => status === 429);
      expect(refused.length).toBeGreaterThanOrEqual(15);
      expect(refused.length).toBeLessThanOrEqual(20);
      expect(refused[0]).toMatchObject({ json: { code: "rate_limit_exceeded" }, headers: { "ratelimit-limit": "5" } });
      expect((await api.get("/projects")).status).toBe(200);
      await pause(1000);
      expect((await list()).status).toBe(200);
    });
  },
  smallPlans,
);
