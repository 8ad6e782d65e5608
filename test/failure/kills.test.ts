import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres, type Postgres } from "@tidemark/local";
import { requireServers, rounds, until, withPatience } from "@tidemark/testkit";
import { describeWith } from "../stack/describe-with.ts";
import { modesHere } from "../stack/modes.ts";
import { startStack, type OwnStack } from "../stack/stack.ts";

const servers = await requireServers(["nats-server", "minio"]);

describe.each(modesHere())("kill -9 of everything right after the 200, %s", (mode) => {
  let directory = "";
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "tidemark-kill-"));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  test("loses nothing that was acknowledged, and a repeat of the last write does not double it", async () => {
    let postgres: Postgres = await startPostgres({ dataDir: directory, log: () => {} });
    let stack: OwnStack = await startStack(mode, { databaseUrl: withPatience(postgres.url) });
    const { key, api } = await stack.organization();
    const { id } = (await api.post("/runs", { project: "kept", config: { seed: 1 } })).json.run;
    const points = Array.from({ length: 500 }, (_, step) => ({ metrics: { loss: 1 / (step + 1), acc: step }, step }));
    const headers = { "idempotency-key": "the-last-one" };
    await api.post(`/api/runs/${id}/logs`, { lines: [{ line_number: 1, message: "hello" }] });
    await api.post(`/api/runs/${id}/attributes`, { path: "config/lr", type: "config", value: 0.1 });
    const last = await api.post(`/runs/${id}/metrics/batch`, { points }, { headers });
    for (const child of new Set(stack.children.values())) child.signal("SIGKILL");
    process.kill(postgres.pid, "SIGKILL");
    expect(last).toMatchObject({ status: 200, json: { inserted: 1000 } });
    await Promise.all([...new Set(stack.children.values())].map(({ ended }) => ended));
    await postgres.exited;
    await postgres.stop();
    await stack.stop();

    postgres = await startPostgres({ dataDir: directory, log: () => {} });
    stack = await startStack(mode, { databaseUrl: withPatience(postgres.url) });
    const again = stack.api.as(key);
    expect((await again.get(`/runs/${id}`)).json.run).toMatchObject({
      project: "kept",
      config: { seed: 1 },
      metric_keys: ["acc", "loss"],
    });
    expect((await again.get(`/runs/${id}/metrics?limit=5000`)).json.metrics).toHaveLength(1000);
    expect((await again.get(`/api/runs/${id}/logs`)).json.lines).toHaveLength(1);
    expect((await again.get(`/api/runs/${id}/attributes`)).json.attributes).toHaveLength(1);
    const replay = await again.post(`/runs/${id}/metrics/batch`, { points }, { headers });
    expect(replay).toMatchObject({
      status: 200,
      json: { inserted: 1000 },
      headers: { "idempotency-replayed": "true" },
    });
    expect((await again.get(`/runs/${id}/metrics?limit=5000`)).json.metrics).toHaveLength(1000);
    await stack.stop();
    await postgres.stop();
  });
});

describeWith(servers)("one service of several", () => {
  let stack: OwnStack;
  beforeAll(async () => {
    stack = await startStack("split");
  });
  afterAll(() => stack.stop());

  test("killed while clients write: nothing acknowledged is lost or doubled, and it recovers", async () => {
    const { api } = await stack.organization();
    const { id } = (await api.post("/runs", {})).json.run;
    const acknowledged: number[] = [];
    let writing = true;
    const writer = async (first: number): Promise<void> => {
      for (let step = first; writing; step += 4) {
        // A client that repeats a step until an answer says that the step is stored.
        await until(`step ${step}`, async () => {
          const body = { metrics: { a: step }, step };
          const answer = await api.post(`/runs/${id}/metrics`, body, {
            headers: { "idempotency-key": `step-${step}` },
          });
          if (answer.status !== 200) expect(answer.status).toBe(503);
          return answer.status === 200;
        });
        acknowledged.push(step);
      }
    };
    const writers = [0, 1, 2, 3].map(writer);
    for (let kill = 0; kill < rounds(3); kill += 1) {
      const before = acknowledged.length;
      await until("some writes", () => acknowledged.length > before + 20);
      await stack.restart("ingest");
    }
    writing = false;
    await Promise.all(writers);
    const { metrics } = (await api.get(`/runs/${id}/metrics?limit=5000`)).json;
    expect(metrics.map(({ step }: { step: number }) => step)).toEqual(acknowledged.toSorted((a, b) => a - b));
    expect((await api.get("/api/overview")).json.overview).toMatchObject({ metric_points: acknowledged.length });
  });

  test("gone: what needs it is 503, the rest works", async () => {
    const { api } = await stack.organization();
    const { id } = (await api.post("/runs", {})).json.run;
    await stack.children.get("ingest-read")?.end("SIGKILL");
    const answer = await api.get(`/runs/${id}/metrics`);
    expect(answer).toMatchObject({ status: 503, json: { error: expect.any(String), code: "service_unavailable" } });
    expect((await api.post(`/runs/${id}/metrics`, { metrics: { a: 1 }, step: 0 })).status).toBe(200);
    expect((await api.get(`/runs/${id}`)).status).toBe(200);
    await stack.restart("ingest-read");
    expect((await api.get(`/runs/${id}/metrics`)).json.metrics).toHaveLength(1);
  });
});
