import { describe, expect, test } from "@jest/globals";
import type { AppError } from "@tidemark/errors";
import { parsePlans } from "@tidemark/limits";
import { createLog } from "@tidemark/telemetry";
import fc from "fast-check";
import { admitChange, admitWithin, admitWrite } from "./admit-write.ts";
import { createPlanGate, openGate, withStorage } from "./plan-gate.ts";

const LIMIT = 1000;
const plans = parsePlans(`{"free": {"metric_points": ${LIMIT}}, "pro": {"metric_points": 5000}}`);
const owner = { orgId: "org", planTier: "free", billingState: "free_active" };

/** The usage of an organization, in a store that several processes share. */
function setUp() {
  const clock = { ms: 0 };
  const store = { used: 0, reads: 0, fails: false };
  const newGate = () =>
    createPlanGate({
      target: "metric_points",
      plans,
      readUsed: () => {
        store.reads += 1;
        return store.fails ? Promise.reject(new Error("gone")) : Promise.resolve(store.used);
      },
      nowMs: () => clock.ms,
      log: createLog({ level: "error", service: "test", destination: { write: () => {} } }),
    });
  /** Admits and stores; returns the reason of a refusal. */
  const write = async (gate: ReturnType<typeof newGate>, amount: number, of = owner): Promise<string> => {
    try {
      await gate.admit(of, amount);
    } catch (error) {
      return (error as AppError).reason;
    }
    store.used += amount;
    return "stored";
  };
  return { clock, store, newGate, write };
}

describe("one process", () => {
  test("admits exactly up to the limit, and nothing that would go beyond", async () => {
    const { newGate, write, store } = setUp();
    const gate = newGate();
    expect(await write(gate, 999)).toBe("stored");
    expect(await write(gate, 2)).toBe("plan_limit_exceeded");
    expect(await write(gate, 1)).toBe("stored");
    expect(await write(gate, 1)).toBe("plan_limit_exceeded");
    expect(await write(gate, 1001, { ...owner, orgId: "other" })).toBe("plan_limit_exceeded");
    expect(store.used).toBe(LIMIT);
  });

  test("admits no more to a client whose writes each begin a reading", async () => {
    const { newGate, write, store, clock } = setUp();
    const gate = newGate();
    for (let i = 0; i < 30; i += 1) {
      await write(gate, 100);
      clock.ms += 400;
    }
    expect(store.used).toBe(LIMIT);
  });

  test("names the plan and the limit", async () => {
    const { newGate, store } = setUp();
    store.used = LIMIT;
    await expect((async () => newGate().admit(owner, 1))()).rejects.toMatchObject({
      message: "the plan Free of your organization allows 1000 metric points a month; take a larger plan or write less",
    });
  });

  test("asks once for an organization that is far from its limit, and does not make its requests wait", async () => {
    const { newGate, write, store } = setUp();
    const gate = newGate();
    await write(gate, 1);
    for (let i = 0; i < 50; i += 1) {
      expect(gate.admit(owner, 1)).toBeUndefined();
    }
    expect(store.reads).toBe(1);
  });

  test("reads again for a request that alone wants a sixteenth of what it believes to be left", async () => {
    const { newGate, write, store, clock } = setUp();
    const gate = newGate();
    await write(gate, 1);
    store.used = LIMIT - 10;
    clock.ms += 300;
    expect(await write(gate, 70)).toBe("plan_limit_exceeded");
    expect([store.used, store.reads]).toEqual([LIMIT - 10, 2]);
  });

  test("does not ask for each request that it refuses", async () => {
    const { newGate, write, store, clock } = setUp();
    store.used = LIMIT;
    const gate = newGate();
    for (let i = 0; i < 100; i += 1) await write(gate, 1);
    expect(store.reads).toBe(1);
    clock.ms += 1000;
    await write(gate, 1);
    expect(store.reads).toBe(2);
  });

  test("notices within a second that there is room again, as in a new month, and immediately that the plan is larger", async () => {
    const { newGate, write, store, clock } = setUp();
    store.used = LIMIT;
    const gate = newGate();
    expect(await write(gate, 1)).toBe("plan_limit_exceeded");
    expect(await write(gate, 1, { ...owner, planTier: "pro" })).toBe("stored");
    store.used = 0;
    clock.ms += 1000;
    expect(await write(gate, 1)).toBe("stored");
  });

  test("does not refuse for what was admitted and then not stored, as repeats are", async () => {
    const { newGate, write } = setUp();
    const gate = newGate();
    for (let i = 0; i < 20; i += 1) await gate.admit(owner, 900);
    expect(await write(gate, 1000)).toBe("stored");
  });
});

test("several processes together admit no more than the limit and the requests of about a second", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ process: fc.nat(3), amount: fc.integer({ min: 1, max: 5 }), pauseMs: fc.nat(400) }), {
        minLength: 300,
        maxLength: 500,
      }),
      async (writes) => {
        const { newGate, write, store, clock } = setUp();
        const gates = [newGate(), newGate(), newGate(), newGate()];
        // All of them know that more than half is used.
        store.used = LIMIT * 0.6;
        for (const { process, amount, pauseMs } of writes) {
          clock.ms += pauseMs;
          await write(gates[process]!, amount);
        }
        // One request of each process finds out, and others may arrive during the reading.
        expect(store.used).toBeLessThanOrEqual(LIMIT + 4 * 5);
        expect(store.used).toBeGreaterThan(LIMIT * 0.6);
      },
    ),
    { numRuns: 30, endOnFailure: true },
  );
});

test("while nothing can be read, everything is admitted, and there is one attempt a second", async () => {
  const { newGate, write, store, clock } = setUp();
  store.fails = true;
  const gate = newGate();
  for (let i = 0; i < 20; i += 1) expect(await write(gate, 900)).toBe("stored");
  expect(store.reads).toBe(1);
  store.fails = false;
  clock.ms += 1000;
  expect(await write(gate, 1)).toBe("plan_limit_exceeded");
});

describe("a write", () => {
  const never = () => Promise.resolve(false);

  test("is refused while a payment is due, even if the gate admits it", async () => {
    const due = { ...owner, billingState: "canceled" };
    await expect(admitWrite(openGate, due, 1, never)).rejects.toMatchObject({ reason: "payment_required" });
  });

  test("that was stored before is admitted in spite of both", async () => {
    const { newGate, store } = setUp();
    store.used = LIMIT;
    const always = () => Promise.resolve(true);
    await admitWrite(newGate(), { ...owner, billingState: "canceled" }, 1, always);
    await admitWrite(newGate(), owner, 1, always);
    await expect(admitWrite(newGate(), owner, 1, never)).rejects.toMatchObject({ reason: "plan_limit_exceeded" });
  });

  test("waits for nothing where memory knows that there is room", async () => {
    const { newGate, write } = setUp();
    const gate = newGate();
    await write(gate, 1);
    expect(admitWrite(gate, owner, 1, never)).toBeUndefined();
  });
});

describe("bytes", () => {
  const exceeded = { reason: "plan_limit_exceeded" };

  test("are admitted in any state of the account, and refused beyond the plan unless they are stored", async () => {
    const { newGate, store } = setUp();
    store.used = LIMIT;
    const due = { ...owner, billingState: "canceled" };
    await admitWithin(openGate, due, 1, () => Promise.resolve(false));
    await admitWithin(newGate(), due, 1, () => Promise.resolve(true));
    await expect(admitWithin(newGate(), due, 1, () => Promise.resolve(false))).rejects.toMatchObject(exceeded);
  });

  test("that replace others are admitted by how much they grow", async () => {
    const { newGate, store } = setUp();
    store.used = LIMIT - 5;
    await admitChange(newGate(), owner, 100, () => Promise.resolve(100));
    await admitChange(newGate(), owner, 105, () => Promise.resolve(100));
    await expect(admitChange(newGate(), owner, 106, () => Promise.resolve(100))).rejects.toMatchObject(exceeded);
    await admitChange(newGate(), owner, 5, () => Promise.reject(new Error("is not asked")));
  });

  test("of values are admitted with the values", async () => {
    const [values, bytes] = [setUp(), setUp()];
    const gate = withStorage(values.newGate(), bytes.newGate(), 16);
    bytes.store.used = LIMIT - 32;
    await gate.admit(owner, 2);
    await expect((async () => gate.admit(owner, 3))()).rejects.toMatchObject(exceeded);
    values.store.used = LIMIT;
    const full = withStorage(values.newGate(), openGate, 16);
    await expect((async () => full.admit(owner, 1))()).rejects.toMatchObject(exceeded);
  });
});
