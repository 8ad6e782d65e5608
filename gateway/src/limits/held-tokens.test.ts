import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { createHeldTokens, type HeldTokens } from "./held-tokens.ts";
import { createSharedBuckets } from "./shared-buckets.fixture.ts";
import type { Rate } from "./token-bucket.ts";

const of = { orgId: "org", bucket: "general" };
const free: Rate = { perSecond: 5, burst: 30 };
const premium: Rate = { perSecond: 200, burst: 1000 };

function setUp(gateways = 1) {
  const clock = { ms: 0 };
  const shared = createSharedBuckets(() => clock.ms);
  const failing = { now: false };
  const newGateway = (): HeldTokens =>
    createHeldTokens({
      lease: (lease) => (failing.now ? Promise.reject(new Error("gone")) : shared.lease(lease)),
      gateways: () => gateways,
      nowMs: () => clock.ms,
    });
  return { clock, shared, failing, newGateway };
}
const admitted = async (tokens: HeldTokens, times: number, rate: Rate): Promise<number> => {
  let count = 0;
  for (let i = 0; i < times; i += 1) if ((await tokens.take(of, rate)).allowed) count += 1;
  return count;
};
/** Lets leases requested in the background arrive. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe("one gateway", () => {
  test("admits the burst, then what flows in", async () => {
    const { clock, newGateway } = setUp();
    const gateway = newGateway();
    expect(await admitted(gateway, 40, free)).toBe(30);
    clock.ms += 1000;
    expect(await admitted(gateway, 40, free)).toBe(5);
  });

  test("says what is left as one bucket would", async () => {
    const { newGateway } = setUp();
    const gateway = newGateway();
    for (const remaining of [29, 28, 27]) {
      expect(await gateway.take(of, free)).toEqual({ allowed: true, remaining, waitSeconds: 0 });
    }
    const large = newGateway();
    const other = { ...of, bucket: "other" };
    for (const remaining of [999, 998, 997]) {
      expect(await large.take(other, premium)).toMatchObject({ allowed: true, remaining });
    }
  });

  test("asks once for many simultaneous requests", async () => {
    const { shared, newGateway } = setUp();
    const gateway = newGateway();
    const taken = await Promise.all(Array.from({ length: 40 }, async () => gateway.take(of, free)));
    expect(taken.filter(({ allowed }) => allowed)).toHaveLength(30);
    expect(shared.asked.map(({ wanted }) => wanted)).toEqual([1, 39]);
    expect(taken.at(-1)).toEqual({ allowed: false, remaining: 0, waitSeconds: 1 });
  });

  test("does not wait while it holds tokens, and asks for more before the last one", async () => {
    const { shared, newGateway } = setUp();
    const gateway = newGateway();
    await gateway.take(of, premium);
    for (let i = 0; i < 100; i += 1) {
      expect(gateway.take(of, premium)).not.toBeInstanceOf(Promise);
      await settled();
    }
    expect(shared.asked.length).toBeLessThan(10);
  });

  test("refuses without asking while it knows that the bucket is empty", async () => {
    const { clock, shared, newGateway } = setUp();
    const gateway = newGateway();
    await admitted(gateway, 31, free);
    const asked = shared.asked.length;
    expect(await admitted(gateway, 100, free)).toBe(0);
    expect(shared.asked).toHaveLength(asked);
    clock.ms += 199;
    expect(await gateway.take(of, free)).toMatchObject({ allowed: false, waitSeconds: 1 });
    clock.ms += 1;
    expect(await gateway.take(of, free)).toMatchObject({ allowed: true });
  });

  test("another plan counts from the next lease on", async () => {
    const { newGateway } = setUp();
    const gateway = newGateway();
    await admitted(gateway, 31, free);
    expect(await gateway.take({ ...of, bucket: "b" }, premium)).toMatchObject({ allowed: true, remaining: 999 });
  });

  test("leases less when little is left and few requests arrive, so that nothing is wasted", async () => {
    const { clock, shared, newGateway } = setUp();
    const [busy, quiet] = [newGateway(), newGateway()];
    await Promise.all(Array.from({ length: 900 }, async () => busy.take(of, premium)));
    await settled();
    await quiet.take(of, premium);
    clock.ms += 2000;
    await Promise.all(Array.from({ length: 350 }, async () => busy.take(of, premium)));
    await settled();
    await quiet.take(of, premium);
    expect(shared.asked.at(-1)?.wanted).toBe(1);
  });
});

describe("several gateways", () => {
  test("admit no more than one bucket would, whoever asks", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ gateway: fc.nat(2), requests: fc.integer({ min: 1, max: 40 }), pauseMs: fc.nat(400) }), {
          maxLength: 40,
        }),
        async (steps) => {
          const { clock, newGateway } = setUp(3);
          const gateways = [newGateway(), newGateway(), newGateway()];
          let count = 0;
          for (const { gateway, requests, pauseMs } of steps) {
            clock.ms += pauseMs;
            count += await admitted(gateways[gateway]!, requests, free);
          }
          expect(count).toBeLessThanOrEqual(free.burst + (free.perSecond * clock.ms) / 1000 + 1e-6);
        },
      ),
    );
  });

  test.each([
    ["free", free],
    ["premium", premium],
  ])("at three times the rate of %s admit nearly all of it", async (_, rate) => {
    const { clock, newGateway } = setUp(3);
    const gateways = [newGateway(), newGateway(), newGateway()];
    const steps = 6000;
    let count = 0;
    let owed = 0;
    for (let i = 0; i < steps; i += 1) {
      clock.ms += 10;
      for (owed += 3 * rate.perSecond * 0.01; owed >= 1; owed -= 1) {
        if ((await gateways[i % 3]!.take(of, rate)).allowed) count += 1;
      }
      await settled();
    }
    const allowed = rate.burst + (rate.perSecond * clock.ms) / 1000;
    expect(count / allowed).toBeLessThanOrEqual(1.01);
    expect(count / allowed).toBeGreaterThanOrEqual(0.95);
  });
});

describe("while leases fail", () => {
  test("each gateway grants its part of what was left, and continues with leases afterwards", async () => {
    const { clock, failing, newGateway } = setUp(3);
    const gateway = newGateway();
    expect(await admitted(gateway, 3, free)).toBe(3);
    failing.now = true;
    expect(await admitted(gateway, 30, free)).toBe(9);
    clock.ms += 3000;
    expect(await admitted(gateway, 30, free)).toBe(5);
    failing.now = false;
    clock.ms += 1000;
    await gateway.take(of, free);
    await settled();
    expect(await admitted(gateway, 60, free)).toBeGreaterThanOrEqual(25);
  });

  test("requests wait for the first failure only", async () => {
    const { failing, newGateway } = setUp(1);
    const gateway = newGateway();
    failing.now = true;
    expect(await gateway.take(of, premium)).toMatchObject({ allowed: true });
    expect(gateway.take(of, premium)).not.toBeInstanceOf(Promise);
  });
});

test("buckets that were evicted from memory are requested again", async () => {
  const clock = { ms: 0 };
  const shared = createSharedBuckets(() => clock.ms);
  const tokens = createHeldTokens({ lease: shared.lease, gateways: () => 1, nowMs: () => clock.ms, bucketsMax: 2 });
  const one: Rate = { perSecond: 1, burst: 1 };
  const allowed = async (bucket: string) => (await tokens.take({ orgId: "o", bucket }, one)).allowed;
  expect([await allowed("a"), await allowed("b"), await allowed("c"), await allowed("a")]).toEqual([
    true,
    true,
    true,
    false,
  ]);
});
