import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { limitedGate } from "@tidemark/testkit";
import { removeRunRows } from "../removal/removed-rows.sql.ts";
import { callOf, eventOf, newTraceId, startTraces, type Tenant, type TracesFixture } from "../traces.fixture.ts";

let traces: TracesFixture;
let tenant: Tenant;
beforeAll(async () => {
  traces = await startTraces();
});
afterAll(() => traces.close());
beforeEach(async () => {
  tenant = await traces.newTenant();
});

/** Returns the counted bytes of traces, and the bytes of the rows. */
const storedOf = async () => {
  const [row] = await traces.ask<{ counted: number; stored: number }>(
    `SELECT coalesce((SELECT sum(bytes) FROM platform.stored_bytes WHERE org_id = $1 AND kind = 'traces'), 0)::float8 AS counted,
            coalesce((SELECT sum(bytes) FROM traces.segments WHERE org_id = $1), 0)::float8 AS stored`,
    tenant.orgId,
  );
  return row!;
};
const textEvent = (text: string, more: { traceId?: string; sequence?: number } = {}) =>
  eventOf({ traceId: newTraceId(), attributesJson: Buffer.from(JSON.stringify({ text })), ...more });
const send = (event: ReturnType<typeof eventOf>, key: string = randomUUID(), client = traces.client) =>
  client.appendTraceEvents({ runId: tenant.runId, idempotencyKey: key, events: [event] }, callOf(tenant));
/** Returns by how much the counted bytes grow with an event. */
const growthOf = async (event: ReturnType<typeof eventOf>): Promise<number> => {
  const before = await storedOf();
  await send(event);
  return (await storedOf()).counted - before.counted;
};

test("spans count the UTF-8 bytes of what was sent, however well they pack, until they are purged", async () => {
  const short = await growthOf(textEvent("a".repeat(200)));
  expect(short).toBeGreaterThan(200);
  expect(short).toBeLessThan(400);
  expect(await growthOf(textEvent("a".repeat(12_000)))).toBeGreaterThanOrEqual(short + 11_800);
  expect(await growthOf(textEvent("é漢".repeat(2400)))).toBeGreaterThanOrEqual(short + 12_000 - 200);
  const { counted, stored } = await storedOf();
  expect(counted).toBe(stored);
  await removeRunRows(traces.workerDb, tenant.orgId, tenant.runId);
  expect(await storedOf()).toEqual({ counted: 0, stored: 0 });
});

test("a repeat counts once, writers at the same time all count", async () => {
  const event = textEvent("again");
  const once = await growthOf(event);
  const { counted } = await storedOf();
  await send(event, "key");
  await send(event, "key");
  expect((await storedOf()).counted).toBe(counted + once);
  await Promise.all(Array.from({ length: 40 }, () => send(textEvent("again"))));
  const all = await storedOf();
  expect(all.counted).toBe(all.stored);
  expect(all.counted).toBe(42 * once);
});

test("bytes that compaction drops are subtracted", async () => {
  const traceId = newTraceId();
  for (let sequence = 1; sequence <= 30; sequence += 1) {
    await send(textEvent("x".repeat(1000), { traceId, sequence }));
  }
  const before = await storedOf();
  await traces.quiet(tenant);
  await traces.compactor().round();
  const after = await storedOf();
  expect(after.counted).toBe(after.stored);
  expect(after.counted).toBeLessThan(before.counted / 10);
  expect(after.counted).toBeGreaterThan(1000);
});

test("events that do not fit are refused and leave nothing", async () => {
  const event = textEvent("fits");
  const bytes = await growthOf(event);
  const before = await storedOf();
  const clientOf = (limit: number) => traces.newProcess(undefined, undefined, undefined, limitedGate(limit));
  await expect(send(textEvent("fits"), "k", clientOf(bytes - 1))).rejects.toMatchObject({
    reason: "plan_limit_exceeded",
  });
  expect(await storedOf()).toEqual(before);
  await send(textEvent("fits"), "k", clientOf(bytes));
  expect((await storedOf()).counted).toBe(before.counted + bytes);
});
