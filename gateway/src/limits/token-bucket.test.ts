import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { createBuckets, fullBucket, returnToken, takeToken } from "./token-bucket.ts";

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

test("buckets that were evicted start full again", () => {
  const buckets = createBuckets(() => 0, 2);
  const rate = { perSecond: 1, burst: 1 };
  expect([buckets.take("a", rate).allowed, buckets.take("a", rate).allowed]).toEqual([true, false]);
  buckets.take("b", rate);
  buckets.take("c", rate);
  expect(buckets.take("a", rate).allowed).toBe(true);
});
