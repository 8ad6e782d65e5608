import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "@jest/globals";
import type { Answer, Api } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";

const scopes = ["sdk:ingest", "export:read", "runs:control", "imports:write", "artifacts:write", "api_keys:write"];

const span = () => ({
  event_id: randomUUID(),
  trace_id: "0123456789abcdef0123456789abcdef",
  span_id: "0123456789abcdef",
  sequence: 1,
  event_kind: "started",
  name: "a span",
  kind: "custom",
  status: "running",
  started_at: "2026-01-02T03:04:05Z",
});
const manifest = {
  collection: { name: "policy", type: "model" },
  manifest: { entries: [{ path: "a.bin", kind: "file", size_bytes: 1, sha256: "0".repeat(64) }] },
};
const job = { schema_version: 2, source_type: "wandb", source_project: "p", target_project: "imported" };

/** Every route for which the specification or a contract lists 402 that a key can call, with a request that is good otherwise. */
const writes: [name: string, send: (api: Api, runId: string, orgId: string) => Promise<Answer>][] = [
  ["POST /projects", (api) => api.post("/projects", { name: randomUUID() })],
  ["POST /runs", (api) => api.post("/runs", { project: "one" })],
  ["PATCH /runs/{run_id}", (api, id) => api.patch(`/runs/${id}`, { tags: ["a"] })],
  ["POST …/forks", (api, id) => api.post(`/api/runs/${id}/forks`, {})],
  ["POST …/metrics", (api, id) => api.post(`/runs/${id}/metrics`, { metrics: { a: 1 }, step: 1 })],
  [
    "POST …/metrics/batch",
    (api, id) => api.post(`/runs/${id}/metrics/batch`, { points: [{ metrics: { a: 1 }, step: 1 }] }),
  ],
  [
    "POST …/rank-metrics",
    (api, id) => api.post(`/runs/${id}/rank-metrics`, { metrics: { a: 1 }, step: 1, rank: 0, world_size: 1 }),
  ],
  ["POST …/objects", (api, id) => api.post(`/api/runs/${id}/objects`, { key: "t", kind: "table", rows: [{ a: 1 }] })],
  [
    "POST …/traces/events",
    (api, id) =>
      api.post(`/api/runs/${id}/traces/events`, { events: [span()] }, { headers: { "idempotency-key": randomUUID() } }),
  ],
  ["POST …/artifact-uploads", (api, id) => api.post(`/api/runs/${id}/artifact-uploads`, manifest)],
  ["POST /api/imports/jobs", (api) => api.post("/api/imports/jobs", job)],
  [
    "POST /api/orgs/{org_id}/api-keys",
    (api, _, orgId) => api.post(`/api/orgs/${orgId}/api-keys`, { name: "k", scopes: ["export:read"] }),
  ],
];

describeModes("an organization whose payment is due", (stack) => {
  let api: Api;
  let orgId: string;
  let runId: string;
  const bill = async (state: string): Promise<void> => {
    const operator = { key: null, headers: { "x-svc-bootstrap-token": stack().bootstrapToken } };
    expect((await api.patch(`/api/orgs/${orgId}`, { billing_state: state }, operator)).status).toBe(200);
  };
  beforeAll(async () => {
    ({ api, orgId } = await stack().organization({ plan: "pro", scopes }));
    runId = (await api.post("/runs", { project: "one" })).json.run.id;
  });

  test.each(["checkout_pending", "read_only_payment_required", "canceled"])("%s: writes are 402", async (state) => {
    await bill(state);
    for (const [name, send] of writes) {
      const { status, json } = await send(api, runId, orgId);
      expect([name, status, json]).toEqual([name, 402, { error: expect.any(String), code: "payment_required" }]);
    }
  });

  describe("what goes on", () => {
    beforeAll(() => bill("canceled"));

    test.each([
      "/runs/:run",
      "/runs",
      "/api/runs/summary",
      "/runs/:run/metrics",
      "/api/runs/:run/logs",
      "/api/runs/:run/artifacts",
      "/api/traces?run_id=:run",
      "/api/export?format=json&run_ids=:run",
      "/api/usage",
      "/api/runs/:run/stop-signal",
    ])("GET %s", async (path) => {
      expect((await api.get(path.replace(":run", runId))).status).toBe(200);
    });

    test("stops and their answers", async () => {
      const asked = await api.post(`/api/runs/${runId}/stop`, {});
      expect(asked.status).toBe(200);
      const stop_request_id = asked.json.run_control.stop_request_id;
      const acknowledged = await api.post(`/api/runs/${runId}/stop-ack`, { stop_request_id, state: "acknowledged" });
      expect(acknowledged.status).toBe(200);
    });
  });

  test("in grace, every write goes through", async () => {
    await bill("past_due_grace");
    for (const [name, send] of writes) expect([name, (await send(api, runId, orgId)).status]).toEqual([name, 200]);
  });
});
