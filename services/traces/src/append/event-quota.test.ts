import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { createPlanGate } from "@tidemark/requests";
import { parsePlans } from "@tidemark/limits";
import { createLog } from "@tidemark/telemetry";
import {
  callOf,
  eventOf,
  newTraceId,
  spanId,
  startTraces,
  type Tenant,
  type TracesClient,
  type TracesFixture,
} from "../traces.fixture.ts";

const LIMIT = 10;

let traces: TracesFixture;
let tenant: Tenant;
let limited: TracesClient;
beforeAll(async () => {
  traces = await startTraces();
});
afterAll(() => traces.close());

type Use = { readonly month: number; readonly events: number };
const useOf = async (orgId: string): Promise<Use> =>
  (await traces.ask<Use>("SELECT month_events AS month, events FROM traces.usage_v1 WHERE org_id = $1", orgId))[0] ?? {
    month: 0,
    events: 0,
  };
const eventsOf = (count: number) => {
  const traceId = newTraceId();
  return Array.from({ length: count }, (_, i) => eventOf({ traceId, spanId: spanId(i) }));
};
const send = (client: TracesClient, events: number | ReturnType<typeof eventsOf>, key: string = randomUUID()) =>
  client.appendTraceEvents(
    {
      runId: tenant.runId,
      idempotencyKey: key,
      events: typeof events === "number" ? eventsOf(events) : events,
    },
    callOf(tenant),
  );

beforeEach(async () => {
  tenant = await traces.newTenant();
  const gate = createPlanGate({
    target: "trace_events",
    plans: parsePlans(`{"free": {"trace_events": ${LIMIT}}}`),
    readUsed: async (orgId) => (await useOf(orgId)).month,
    nowMs: () => performance.now(),
    log: createLog({ level: "error", service: "test" }),
  });
  limited = traces.newProcess(undefined, undefined, gate);
});

describe("trace events", () => {
  test("are counted, repeats are not", async () => {
    const events = eventsOf(3);
    await send(traces.client, events, "one");
    expect(await send(traces.client, events, "one")).toMatchObject({ replayed: true });
    await send(traces.client, 2);
    expect(await useOf(tenant.orgId)).toEqual({ month: 5, events: 5 });
  });

  test("are counted in any counter that a write takes", async () => {
    await Promise.all(Array.from({ length: 40 }, () => send(traces.client, 2)));
    expect(await useOf(tenant.orgId)).toEqual({ month: 80, events: 80 });
    const rows = await traces.ask("SELECT slot FROM traces.event_counts WHERE org_id = $1", tenant.orgId);
    expect(rows.length).toBeGreaterThan(4);
  });

  test("of the month before do not count in this one", async () => {
    await send(traces.client, 3);
    await traces.ask(
      "UPDATE traces.event_counts SET month = (month - interval '1 month')::date WHERE org_id = $1",
      tenant.orgId,
    );
    expect(await useOf(tenant.orgId)).toEqual({ month: 0, events: 3 });
    for (let i = 0; i < 20; i += 1) await send(traces.client, 1);
    expect(await useOf(tenant.orgId)).toEqual({ month: 20, events: 23 });
  });
});

describe("the quota of a month", () => {
  test("admits events up to the limit and stores nothing of what would go beyond", async () => {
    await send(limited, LIMIT - 1);
    await expect(send(limited, 2)).rejects.toMatchObject({ reason: "plan_limit_exceeded" });
    await send(limited, 1);
    await expect(send(limited, 1)).rejects.toMatchObject({ reason: "plan_limit_exceeded" });
    expect(await useOf(tenant.orgId)).toEqual({ month: LIMIT, events: LIMIT });
  });

  test("does not keep a repeat from its answer", async () => {
    const events = eventsOf(LIMIT);
    await send(limited, events, "one");
    expect(await send(limited, events, "one")).toMatchObject({ inserted: LIMIT, replayed: true });
  });
});
