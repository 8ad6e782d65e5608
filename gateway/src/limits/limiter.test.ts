import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "@jest/globals";
import { hostedPlans, parsePlans } from "@tidemark/limits";
import { CallerKind, IdentitySchema } from "@tidemark/proto/common/v1/common";
import type { RateClass } from "./rates.rules.ts";
import { createHeldTokens } from "./held-tokens.ts";
import { createLimiter, type Admission } from "./limiter.ts";
import { createRequestCounts } from "./request-counts.ts";
import { createSharedBuckets } from "./shared-buckets.fixture.ts";

const orgId = "a";
const identity = (of = orgId, planTier = "free", credentialId = "key-1") =>
  create(IdentitySchema, { orgId: of, planTier, credentialId, kind: CallerKind.API_KEY });

function setUp({ enabled = true, plans = hostedPlans, gateways = 1 } = {}) {
  const clock = { ms: Date.parse("2026-01-30T12:00:00Z") };
  const nowMs = () => clock.ms;
  const counts = createRequestCounts(nowMs);
  const limiter = createLimiter({
    enabled,
    plans,
    tokens: createHeldTokens({ lease: createSharedBuckets(nowMs).lease, gateways: () => gateways, nowMs }),
    counts,
    gateways: () => gateways,
    clocks: { wallMs: nowMs, steadyMs: nowMs },
  });
  const admit = async (
    rate: RateClass,
    more: { monthQuota?: "never_refused"; as?: ReturnType<typeof identity> } = {},
  ) =>
    limiter.admit(more.as ?? identity(), {
      rate,
      ...(more.monthQuota === undefined ? {} : { monthQuota: more.monthQuota }),
    });
  const reasons = async (times: number, ask: () => Promise<Admission | undefined>) => {
    const found: (string | undefined)[] = [];
    for (let i = 0; i < times; i += 1) found.push((await ask())?.refused?.reason);
    return found;
  };
  return { clock, counts, limiter, admit, reasons };
}

describe("rates", () => {
  test("each class and each organization has its own bucket", async () => {
    const { admit, reasons } = setUp();
    await reasons(10, () => admit("ingest"));
    expect((await admit("ingest"))?.refused).toMatchObject({ reason: "rate_limit_exceeded", retryAfterSeconds: 1 });
    for (const [org, rateClass] of [
      ["a", "general"],
      ["a", "import"],
      ["a", "control_poll"],
      ["a", "account"],
      ["b", "ingest"],
    ] as const) {
      expect((await admit(rateClass, { as: identity(org) }))?.refused).toBeUndefined();
    }
  });

  test("account routes have a bucket for each credential, regardless of the plan", async () => {
    const { admit, reasons } = setUp();
    const premium = (key: string) => ({ as: identity(orgId, "premium", key) });
    expect(await reasons(31, () => admit("account", premium("one")))).toEqual([
      ...Array.from({ length: 30 }, () => undefined),
      "rate_limit_exceeded",
    ]);
    expect((await admit("account", premium("two")))?.refused).toBeUndefined();
  });

  test("headers have the rate, the remainder and the wait", async () => {
    const { admit, reasons, clock } = setUp();
    const expected = (remaining: string, reset: string) => ({
      "x-svc-ratelimit-scope": "second",
      "x-instantml-ratelimit-scope": "second",
      "ratelimit-limit": "2",
      "ratelimit-remaining": remaining,
      "ratelimit-reset": reset,
    });
    expect((await admit("ingest"))?.headers).toEqual(expected("9", "0"));
    await reasons(9, () => admit("ingest"));
    expect((await admit("ingest"))?.headers).toEqual(expected("0", "1"));
    clock.ms += 500;
    expect((await admit("ingest"))?.headers).toEqual(expected("0", "0"));
  });

  test("a request of no organization and an unlimited route are not counted", async () => {
    const { admit, counts } = setUp();
    expect(await admit("general", { as: identity("") })).toBeUndefined();
    expect(await admit("none")).toBeUndefined();
    expect(counts.used(orgId)).toBe(0);
  });
});

describe("addresses", () => {
  test("an address has a burst of 100 failures; a forgiven one does not count", () => {
    const { limiter } = setUp();
    for (let i = 0; i < 100; i += 1) expect(limiter.countAddress("::1")?.refused).toBeUndefined();
    expect(limiter.countAddress("::1")?.refused?.reason).toBe("rate_limit_exceeded");
    limiter.refundAddress("::1");
    expect(limiter.countAddress("::1")?.refused).toBeUndefined();
    expect(limiter.countAddress("127.0.0.1")?.refused).toBeUndefined();
  });

  test("all addresses of one IPv6 network count together", () => {
    const { limiter } = setUp();
    for (let i = 0; i < 100; i += 1) limiter.countAddress(`2001:db8:1:2::${i.toString(16)}`);
    expect(limiter.countAddress("2001:db8:1:2:ffff::1")?.refused?.reason).toBe("rate_limit_exceeded");
    expect(limiter.countAddress("2001:db8:1:3::1")?.refused).toBeUndefined();
  });

  test("several gateways share what an address may do", () => {
    const { limiter } = setUp({ gateways: 4 });
    const refused = Array.from({ length: 30 }, () => limiter.countAddress("::1")?.refused !== undefined);
    expect(refused.indexOf(true)).toBe(25);
  });
});

describe("the allowance of a month", () => {
  const plans = parsePlans('{"free": {"api_requests": 3}, "pro": {"api_requests": 3}}');
  const monthly = "api_request_monthly_limit_exceeded";

  test("is refused when it is used up, until the next month in UTC begins", async () => {
    const { admit, reasons, clock, counts } = setUp({ plans });
    expect(await reasons(5, () => admit("general"))).toEqual([undefined, undefined, undefined, monthly, monthly]);
    expect(counts.used(orgId)).toBe(3);
    clock.ms = Date.parse("2026-01-31T23:59:59.001Z");
    const admission = await admit("ingest");
    expect(admission?.refused).toMatchObject({
      retryAfterSeconds: 1,
      members: {
        usage: 3,
        projected_usage: 4,
        limit: 3,
        plan_tier: "free",
        overage_mode: "blocked",
        period_start: "2026-01-01T00:00:00.000Z",
        reset_at: "2026-02-01T00:00:00.000Z",
      },
    });
    expect(admission?.headers).toEqual({
      "x-svc-ratelimit-scope": "monthly",
      "x-instantml-ratelimit-scope": "monthly",
      "ratelimit-limit": "3",
      "ratelimit-remaining": "0",
      "ratelimit-reset": "1",
      "x-svc-monthly-ratelimit-limit": "3",
      "x-svc-monthly-ratelimit-remaining": "0",
      "x-svc-monthly-ratelimit-reset": "1",
      "x-instantml-monthly-ratelimit-limit": "3",
      "x-instantml-monthly-ratelimit-remaining": "0",
      "x-instantml-monthly-ratelimit-reset": "1",
    });
    clock.ms = Date.parse("2026-02-01T00:00:00Z");
    expect(await reasons(4, () => admit("general"))).toEqual([undefined, undefined, undefined, monthly]);
  });

  test("of a plan with a price for more is not refused", async () => {
    const { admit, reasons, counts } = setUp({ plans });
    const pro = { as: identity(orgId, "pro") };
    expect(new Set(await reasons(10, () => admit("general", pro)))).toEqual(new Set([undefined]));
    expect(counts.used(orgId)).toBe(10);
  });

  test("counts what other gateways have reported", async () => {
    const { admit, counts } = setUp({ plans });
    counts.learn(orgId, "2026-01", 3);
    expect((await admit("general"))?.refused?.reason).toBe(monthly);
  });

  test("counts stops without refusing them, and polls for stops not at all", async () => {
    const { admit, reasons, counts } = setUp({ plans });
    expect(await reasons(5, () => admit("control_poll"))).toEqual(Array.from({ length: 5 }, () => undefined));
    expect(await reasons(5, () => admit("account"))).toEqual(Array.from({ length: 5 }, () => undefined));
    expect(counts.used(orgId)).toBe(0);
    expect(await reasons(5, () => admit("general", { monthQuota: "never_refused" }))).toEqual(
      Array.from({ length: 5 }, () => undefined),
    );
    expect(counts.used(orgId)).toBe(5);
    expect((await admit("general"))?.refused?.reason).toBe(monthly);
  });

  test("is checked before the rate, so that clients do not retry in vain", async () => {
    const { admit, reasons } = setUp({ plans });
    await reasons(3, () => admit("ingest"));
    expect(new Set(await reasons(30, () => admit("ingest")))).toEqual(new Set([monthly]));
  });

  test("does not count what the rate refuses", async () => {
    const { admit, reasons, counts } = setUp();
    await reasons(50, () => admit("ingest"));
    expect(counts.used(orgId)).toBe(10);
  });

  test("data of embeds counts and has no bucket", async () => {
    const { admit, counts } = setUp({ plans });
    const admission = await admit("none", { monthQuota: "never_refused" });
    expect([admission?.refused, admission?.headers]).toEqual([undefined, {}]);
    expect(counts.used(orgId)).toBe(1);
  });
});

test("switched off, nothing is refused and there are no headers, but requests are counted", async () => {
  const { limiter, admit, counts } = setUp({ enabled: false, plans: parsePlans('{"free": {"api_requests": 3}}') });
  for (let i = 0; i < 200; i += 1) {
    expect(limiter.countAddress("::1")).toBeUndefined();
    const admission = await admit("general");
    expect([admission?.refused, admission?.headers]).toEqual([undefined, {}]);
  }
  expect(counts.used(orgId)).toBe(200);
});
