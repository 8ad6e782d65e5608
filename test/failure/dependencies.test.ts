import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { until } from "@tidemark/testkit";
import { modesHere } from "../stack/modes.ts";
import { startOwnPostgres, type OwnPostgres } from "../stack/server.ts";
import { startStack, type OwnStack } from "../stack/stack.ts";
import { untilReady } from "../stack/child.ts";

// What processes depend on, one after another for the same processes: starting ten of them is not cheap.
describe.each(modesHere())("processes, %s", (mode) => {
  let postgres: OwnPostgres;
  let stack: OwnStack;
  beforeAll(async () => {
    postgres = await startOwnPostgres();
    stack = await startStack(mode, { databaseUrl: postgres.url });
  });
  afterAll(async () => {
    await stack.stop();
    await postgres.end();
  });

  test("while PostgreSQL is stopped, reads, writes and readiness are 503 in the one error shape, liveness is fine, and all recovers by itself", async () => {
    const { api } = await stack.organization();
    const { id } = (await api.post("/runs", {})).json.run;
    await api.post(`/runs/${id}/metrics`, { metrics: { a: 1 }, step: 0 });
    await postgres.stop();

    const failing = [
      () => api.post(`/runs/${id}/metrics`, { metrics: { a: 2 }, step: 1 }),
      () =>
        api.post(
          `/runs/${id}/metrics/batch`,
          { points: [{ metrics: { a: 2 }, step: 1 }] },
          { headers: { "idempotency-key": "k" } },
        ),
      () => api.post("/runs", {}),
      () => api.get("/runs"),
      () => api.get(`/runs/${id}`),
      () => api.get(`/runs/${id}/metrics`),
      () => api.post(`/api/runs/${id}/logs`, { lines: [{ line_number: 1, message: "x" }] }),
      () => api.get(`/api/runs/${id}/attributes`),
      () => api.as("tm_000000000000_00000000000000000000000000000000_000000").get("/runs"),
    ];
    for (const fail of failing.slice(0, -1)) {
      const answer = await fail();
      expect(answer).toMatchObject({
        status: 503,
        json: { error: expect.any(String), code: "warehouse_unavailable" },
      });
      expect(answer.headers["retry-after"]).toBe("1");
      expect(answer.headers["x-request-id"]).toEqual(expect.any(String));
      expect(answer.text).not.toMatch(/ECONN|postgres|127\.0\.0\.1/i);
    }
    const notReady = await until("readiness to be lost", async () => {
      const answer = await api.get("/readyz");
      return answer.status === 503 ? answer : undefined;
    });
    expect(notReady.json).toMatchObject({ error: expect.any(String), code: "service_unavailable" });
    expect(await api.get("/health")).toMatchObject({ status: 200, json: { status: "ok" } });
    expect((await api.get("/metrics")).status).toBe(200);

    await postgres.start();
    await untilReady(stack);
    const again = await api.post(
      `/runs/${id}/metrics/batch`,
      { points: [{ metrics: { a: 2 }, step: 1 }] },
      { headers: { "idempotency-key": "k" } },
    );
    expect(again.status).toBe(200);
    expect((await api.get(`/runs/${id}/metrics`)).json.metrics.map(({ value }: { value: number }) => value)).toEqual([
      1, 2,
    ]);
  });

  if (mode === "split") {
    test("while NATS is stopped, ingest and reads continue, new keys work immediately, a revoked one stops within ten seconds", async () => {
      const { api } = await stack.organization();
      const { id } = (await api.post("/runs", {})).json.run;
      await stack.nats?.stop();
      for (let step = 0; step < 20; step += 1) {
        expect((await api.post(`/runs/${id}/metrics`, { metrics: { a: step }, step })).status).toBe(200);
      }
      expect((await api.get(`/runs/${id}/metrics`)).json.metrics).toHaveLength(20);
      expect((await api.get("/readyz")).status).toBe(200);

      const other = await stack.organization();
      expect((await other.api.get("/runs")).status).toBe(200);
      const operator = { key: null, headers: { "x-svc-bootstrap-token": stack.bootstrapToken } };
      const { json } = await api.get(`/api/orgs/${other.orgId}/api-keys`, operator);
      await api.post(`/api/orgs/${other.orgId}/api-keys/${json.api_keys[0].id}/revoke`, {}, operator);
      await until("the revoked key to be refused", async () => (await other.api.get("/runs")).status === 401, 10_000);

      await stack.nats?.start();
      const third = await stack.organization();
      expect((await third.api.get("/runs")).status).toBe(200);
    });
  }

  // The last one: afterwards nothing of the stack runs.
  test("SIGTERM lets requests in flight finish and ends with code 0", async () => {
    const { api } = await stack.organization();
    const { id } = (await api.post("/runs", {})).json.run;
    let refused = 0;
    const results: number[] = [];
    const children = [...new Set(stack.children.values())];
    const load = Promise.all(
      Array.from({ length: 40 }, async (_, step) => {
        try {
          results.push((await api.post(`/runs/${id}/metrics`, { metrics: { a: step }, step })).status);
        } catch {
          refused += 1;
        }
      }),
    );
    const codes = await Promise.all(children.map((child) => child.end("SIGTERM")));
    await load;
    expect(codes).toEqual(children.map(() => 0));
    // A connection may be refused once the gateway has gone; every answer is a proper one.
    expect(results.every((status) => status === 200 || status === 503)).toBe(true);
    expect(results.length + refused).toBe(40);
  });
});
