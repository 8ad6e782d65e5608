import { testSql } from "@tidemark/testkit";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";

import { runUpkeep } from "../upkeep/upkeep.ts";
import { ownCall, startUsage, type UsageFixture } from "../usage.fixture.ts";

let fixture: UsageFixture;
beforeAll(async () => {
  fixture = await startUsage();
});
afterAll(() => fixture.close());

const rate = { perSecond: 0.001, burst: 10 };
const wish = (orgId: string, wanted: number, more: object = {}) => ({
  orgId,
  bucket: "ingest",
  ...rate,
  wanted,
  ...more,
});
const lease = async (...leases: ReturnType<typeof wish>[]) =>
  (await fixture.client.leaseTokens({ leases }, ownCall())).leased.map(({ tokens, left }) => [
    tokens,
    Math.floor(left),
  ]);

describe("a bucket", () => {
  test("is full at first, gives what is wanted, then what is there, then nothing", async () => {
    const orgId = randomUUID();
    expect(await lease(wish(orgId, 4))).toEqual([[4, 6]]);
    expect(await lease(wish(orgId, 4))).toEqual([[4, 2]]);
    expect(await lease(wish(orgId, 4))).toEqual([[2, 0]]);
    expect(await lease(wish(orgId, 4))).toEqual([[0, 0]]);
    expect(await lease(wish(orgId, 4, { bucket: "general" }))).toEqual([[4, 6]]);
  });

  test("gives no more in one lease than it holds", async () => {
    expect(await lease(wish(randomUUID(), 400))).toEqual([[10, 0]]);
  });

  test("fills with time, up to its burst", async () => {
    const orgId = randomUUID();
    await lease(wish(orgId, 10));
    const back = (seconds: number) =>
      fixture.ask(
        "UPDATE usage.token_buckets SET filled_at = filled_at - make_interval(secs => $2) WHERE org_id = $1",
        orgId,
        seconds,
      );
    await back(3000);
    expect(await lease(wish(orgId, 10))).toEqual([[3, 0]]);
    await back(1_000_000);
    expect(await lease(wish(orgId, 20))).toEqual([[10, 0]]);
  });

  test("follows the rate of the latest lease, as after a change of the plan", async () => {
    const orgId = randomUUID();
    await lease(wish(orgId, 10));
    await fixture.ask(
      "UPDATE usage.token_buckets SET filled_at = filled_at - interval '10 s' WHERE org_id = $1",
      orgId,
    );
    expect(await lease(wish(orgId, 100, { perSecond: 100, burst: 50 }))).toEqual([[50, 0]]);
  });
});

test("leases of one call are answered in their order, of any number of organizations", async () => {
  const [a, b] = [randomUUID(), randomUUID()].toSorted();
  expect(await lease(wish(b!, 1), wish(a!, 2), wish(a!, 3, { bucket: "general" }))).toEqual([
    [1, 9],
    [2, 8],
    [3, 7],
  ]);
});

test("many gateways at the same time get no more than there is, and no deadlock", async () => {
  const orgs = Array.from({ length: 5 }, () => randomUUID());
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, i) => lease(...orgs.toSorted(() => (i % 2) - 0.5).map((orgId) => wish(orgId, 1)))),
  );
  expect(answers.flat().reduce((sum, [tokens]) => sum + tokens!, 0)).toBe(50);
});

test("a lease returns the requests of this month", async () => {
  const orgId = randomUUID();
  await fixture.ask(
    "INSERT INTO usage.month_requests VALUES ($1, date_trunc('month', now() AT TIME ZONE 'UTC'), 41), ($1, '2020-01-01', 7)",
    orgId,
  );
  const { leased, month } = await fixture.client.leaseTokens({ leases: [wish(orgId, 1)] }, ownCall());
  expect([leased[0]?.monthRequests, month]).toEqual([41n, new Date().toISOString().slice(0, 7)]);
});

test.each([
  ["no lease", []],
  ["a bucket without a rate", [wish(randomUUID(), 1, { perSecond: 0 })]],
  ["a bucket that holds no token", [wish(randomUUID(), 1, { burst: 0.5 })]],
  ["no wish", [wish(randomUUID(), 0)]],
  ["an endless rate", [wish(randomUUID(), 1, { perSecond: Number.POSITIVE_INFINITY })]],
  ["1,001 leases", Array.from({ length: 1001 }, () => wish(randomUUID(), 1))],
])("%s is refused", async (_, leases) => {
  await expect(fixture.client.leaseTokens({ leases }, ownCall())).rejects.toMatchObject({ reason: "bad_request" });
});

test("two leases of one bucket are refused", async () => {
  const orgId = randomUUID();
  const leases = [wish(orgId, 1), wish(orgId, 1)];
  await expect(fixture.client.leaseTokens({ leases }, ownCall())).rejects.toMatchObject({ reason: "bad_request" });
});

test("buckets that have been full for a while are forgotten, others are not", async () => {
  const [idle, used, fresh] = [randomUUID(), randomUUID(), randomUUID()];
  await lease(wish(idle, 1, { perSecond: 5 }), wish(used, 1), wish(fresh, 1, { perSecond: 5 }));
  await fixture.ask(
    "UPDATE usage.token_buckets SET filled_at = filled_at - interval '11 minutes' WHERE org_id = ANY ($1::uuid[])",
    [idle, used],
  );
  expect((await runUpkeep(fixture.workerDb)).buckets).toBe(1);
  const left = await fixture.ask<{ id: string }>(
    "SELECT org_id AS id FROM usage.token_buckets WHERE org_id = ANY ($1::uuid[])",
    [idle, used, fresh],
  );
  expect(new Set(left.map(({ id }) => id))).toEqual(new Set([used, fresh]));
});

test("the role of requests sees no buckets", async () => {
  const read = testSql("SELECT * FROM usage.token_buckets");
  await expect(fixture.db.withTenant(randomUUID(), (tx) => tx.rows(read, []))).rejects.toThrow("permission denied");
});
