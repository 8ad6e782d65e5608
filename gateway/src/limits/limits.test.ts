import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "@jest/globals";
import { hostedPlans, parsePlans } from "@tidemark/plans";
import { CallerKind, IdentitySchema } from "@tidemark/proto/common/v1/common";
import fc from "fast-check";
import { createBuckets, fullBucket, returnToken, takeToken } from "./token-bucket.ts";
import { createLimiter, rateOf } from "./limiter.ts";

describe("one bucket", () => {
  const rate = { perSecond: 2, burst: 3 };

  test.each([
    ["the first of a full bucket", 3, 0, { allowed: true, remaining: 2, waitSeconds: 0 }],
    ["the last token", 1, 0, { allowed: true, remaining: 0, waitSeconds: 0 }],
    [
      "half a token is none; the other half takes a quarter of a second, told as a whole one",
      0.5,
      0,
      { allowed: false, remaining: 0, waitSeconds: 1 },
    ],
    ["half a second later there is one more", 0, 500, { allowed: true, remaining: 0, waitSeconds: 0 }],
    ["a moment before that there is not", 0, 499, { allowed: false, remaining: 0, waitSeconds: 1 }],
    ["it never holds more than its burst", 0, 1_000_000, { allowed: true, remaining: 2, waitSeconds: 0 }],
    ["a clock that goes back fills nothing", 0, -5000, { allowed: false, remaining: 0, waitSeconds: 1 }],
  ])("%s", (_, tokens, laterMs, expected) => {
    const { bucket: _bucket, ...taken } = takeToken({ tokens, atMs: 10_000 }, rate, 10_000 + laterMs);
    expect(taken).toEqual(expected);
  });

  test("a slow bucket says how long the wait is, rounded up", () => {
    expect(takeToken({ tokens: 0.25, atMs: 0 }, { perSecond: 0.1, burst: 1 }, 0).waitSeconds).toBe(8);
  });

  test("a token that is put back does not overfill it", () => {
    expect(returnToken(fullBucket(rate, 0), rate).tokens).toBe(3);
    expect(returnToken({ tokens: 1.5, atMs: 0 }, rate).tokens).toBe(2.5);
  });

  test("in any stretch of time no more is admitted than the burst and what flowed in", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(700), { maxLength: 200 }), (pauses) => {
        let bucket = fullBucket(rate, 0);
        let now = 0;
        let admitted = 0;
        for (const pause of pauses) {
          now += pause;
          const taken = takeToken(bucket, rate, now);
          bucket = taken.bucket;
          if (taken.allowed) admitted += 1;
        }
        expect(admitted).toBeLessThanOrEqual(rate.burst + (rate.perSecond * now) / 1000 + 1e-6);
      }),
    );
  });

  test("waiting as long as it says is always enough", () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 0.99, noNaN: true }),
        fc.double({ min: 0.01, max: 50, noNaN: true }),
        (tokens, perSecond) => {
          const slow = { perSecond, burst: 5 };
          const refused = takeToken({ tokens, atMs: 0 }, slow, 0);
          const later = refused.waitSeconds * 1000 + 0.001;
          expect(takeToken(refused.bucket, slow, later).allowed).toBe(true);
        },
      ),
    );
  });
});

test("buckets that were pushed out come back full", () => {
  const buckets = createBuckets(() => 0, 2);
  const rate = { perSecond: 1, burst: 1 };
  expect([buckets.take("a", rate).allowed, buckets.take("a", rate).allowed]).toEqual([true, false]);
  buckets.take("b", rate);
  buckets.take("c", rate);
  expect(buckets.take("a", rate).allowed).toBe(true);
});

describe("plans", () => {
  test.each([
    ["free", "general", 5, 30],
    ["pro", "general", 50, 250],
    ["premium", "general", 200, 1000],
    ["free", "ingest", 2, 10],
    ["pro", "ingest", 25, 125],
    ["premium", "ingest", 100, 500],
    ["free", "import", 2, 10],
    ["pro", "import", 25, 125],
    ["premium", "import", 100, 500],
    ["free", "control_poll", 10, 100],
    ["pro", "control_poll", 50, 250],
    ["premium", "control_poll", 200, 1000],
    ["", "general", 5, 30],
    ["toString", "general", 5, 30],
  ] as const)("%s %s: %i a second, a burst of %i", (tier, rateClass, perSecond, burst) => {
    expect(rateOf(hostedPlans, tier, rateClass)).toEqual({ perSecond, burst });
  });

  test("a file of plans changes them", () => {
    const plans = parsePlans('{"free": {"rate_limit_burst": 2, "ingest_rate_limit_rps": 0.5}}');
    expect(rateOf(plans, "free", "ingest")).toEqual({ perSecond: 0.5, burst: 2 });
  });
});

describe("the limits of a process", () => {
  const identity = (orgId: string, planTier = "free") =>
    create(IdentitySchema, { orgId, planTier, kind: CallerKind.API_KEY });
  const setUp = (enabled = true) => {
    const clock = { ms: 0 };
    return { clock, limiter: createLimiter({ enabled, plans: hostedPlans, nowMs: () => clock.ms }) };
  };

  test("each class and each organization has its own bucket", () => {
    const { limiter } = setUp();
    for (let i = 0; i < 10; i += 1) limiter.admit(identity("a"), "ingest");
    expect(limiter.admit(identity("a"), "ingest")?.refused).toMatchObject({
      reason: "rate_limit_exceeded",
      retryAfterSeconds: 1,
    });
    for (const [org, rateClass] of [
      ["a", "general"],
      ["a", "import"],
      ["a", "control_poll"],
      ["b", "ingest"],
    ] as const) {
      expect(limiter.admit(identity(org), rateClass)?.refused).toBeUndefined();
    }
  });

  test("headers tell the rate, what is left and the wait", () => {
    const { limiter, clock } = setUp();
    const expected = (remaining: string, reset: string) => ({
      "x-svc-ratelimit-scope": "second",
      "x-instantml-ratelimit-scope": "second",
      "ratelimit-limit": "2",
      "ratelimit-remaining": remaining,
      "ratelimit-reset": reset,
    });
    expect(limiter.admit(identity("a"), "ingest")?.headers).toEqual(expected("9", "0"));
    for (let i = 0; i < 9; i += 1) limiter.admit(identity("a"), "ingest");
    expect(limiter.admit(identity("a"), "ingest")?.headers).toEqual(expected("0", "1"));
    clock.ms = 500;
    expect(limiter.admit(identity("a"), "ingest")?.headers).toEqual(expected("0", "0"));
  });

  test("a request of no organization and an unlimited route are not counted", () => {
    const { limiter } = setUp();
    expect(limiter.admit(identity(""), "general")).toBeUndefined();
    expect(limiter.admit(identity("a"), "none")).toBeUndefined();
  });

  test("an address has a burst of 100 failures; a forgiven one does not count", () => {
    const { limiter } = setUp();
    for (let i = 0; i < 100; i += 1) expect(limiter.countAddress("::1")?.refused).toBeUndefined();
    expect(limiter.countAddress("::1")?.refused?.reason).toBe("rate_limit_exceeded");
    limiter.forgiveAddress("::1");
    expect(limiter.countAddress("::1")?.refused).toBeUndefined();
    expect(limiter.countAddress("127.0.0.1")?.refused).toBeUndefined();
  });

  test("switched off, nothing is counted and there are no headers", () => {
    const { limiter } = setUp(false);
    const admissions = Array.from({ length: 200 }, () => [
      limiter.admit(identity("a"), "general"),
      limiter.countAddress("::1"),
    ]);
    expect(new Set(admissions.flat())).toEqual(new Set([undefined]));
  });
});
