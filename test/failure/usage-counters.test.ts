import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { requireServers, rounds, until } from "@tidemark/testkit";
import type { Api } from "../stack/client.ts";
import { describeWith } from "../stack/describe-with.ts";
import { startStack, type OwnStack } from "../stack/stack.ts";
import { startedSpan } from "../stack/started-span.ts";

const servers = await requireServers(["nats-server", "minio"]);

const KILLS = rounds(3);
/** Writes of each kind that are acknowledged between two kills. */
const BETWEEN = 15;

describeWith(servers)("the usage of an organization", () => {
  let stack: OwnStack;
  beforeAll(async () => {
    stack = await startStack("split", { settings: { TIDEMARK_LIMITS: "on" } });
  });
  afterAll(() => stack.stop());

  /** Sends a request until it is acknowledged; it may have been stored at the first attempt. */
  const insist = (api: Api, path: string, body: unknown): Promise<unknown> => {
    const headers = { "idempotency-key": randomUUID() };
    return until(path, async () => {
      const { status, text } = await api.post(path, body, { headers });
      if (![200, 429, 503].includes(status)) throw new Error(`${status} ${text}`);
      return status === 200;
    });
  };

  test("is what is stored, after its writers were killed again and again", async () => {
    const { api } = await stack.organization({ plan: "premium", scopes: ["sdk:ingest", "export:read", "usage:read"] });
    const { id } = (await api.post("/runs", {})).json.run;
    const acknowledged = { points: 0, ranks: 0, events: 0 };
    let isWriting = true;
    const writer = async (
      kind: keyof typeof acknowledged,
      path: string,
      bodyOf: (n: number) => unknown,
      adds: number,
    ) => {
      for (let n = 0; isWriting; n += 1) {
        await insist(api, path, bodyOf(n));
        acknowledged[kind] += adds;
      }
    };
    const metrics = (step: number) => ({ metrics: { a: step, b: -step, c: 0.5 }, step });
    const writers = [
      writer("points", `/runs/${id}/metrics`, metrics, 3),
      writer("points", `/runs/${id}/metrics/batch`, (n) => ({ points: [metrics(n), metrics(n + 1)] }), 6),
      writer("ranks", `/runs/${id}/rank-metrics`, (n) => ({ ...metrics(n), rank: 0, world_size: 1 }), 3),
      writer("events", `/api/runs/${id}/traces/events`, (n) => ({ events: [startedSpan(n + 1)] }), 1),
    ];
    for (let kill = 0; kill < KILLS; kill += 1) {
      const before = { ...acknowledged };
      await until("some writes", () =>
        Object.entries(before).every(([kind, count]) => acknowledged[kind as "events"] > count + BETWEEN),
      );
      await Promise.all([stack.restart("ingest"), stack.restart("traces"), stack.restart("usage")]);
    }
    isWriting = false;
    await Promise.all(writers);

    const { usage } = (await api.get("/api/usage")).json.organizations[0];
    expect(usage).toMatchObject({
      metric_points: acknowledged.points + acknowledged.ranks,
      metric_points_retained_total: acknowledged.points + acknowledged.ranks,
      metric_series: 3,
      trace_events: acknowledged.events,
    });
    // The aggregates are made of the stored values, and so is the trace of its spans.
    const { run } = (await api.get(`/runs/${id}`)).json;
    const counts = Object.values(run.metric_aggregates as Record<string, { count: number }>).map(({ count }) => count);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(acknowledged.points);
    const [trace] = (await api.get(`/api/traces?run_id=${id}`)).json.traces;
    expect(trace.span_count).toBe(acknowledged.events);
  });
});
