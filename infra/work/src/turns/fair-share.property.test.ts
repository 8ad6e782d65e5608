import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { LATE_MS } from "./caps.rules.ts";
import { createFairShare, NO_TENANT, SHARED_MS, sharesOf } from "./fair-share.rules.ts";

type Step = {
  readonly do: "enter" | "leave" | "withdraw" | "late" | "calm";
  readonly party: string;
  readonly afterMs: number;
};

const PARTIES = ["a", "b", "c", "d", NO_TENANT];

const steps = fc.array(
  fc.record({
    do: fc.constantFrom<Step["do"]>("enter", "enter", "enter", "leave", "leave", "withdraw", "late", "calm"),
    party: fc.constantFrom(...PARTIES),
    afterMs: fc.constantFrom(0, 1, SHARED_MS),
  }),
  { maxLength: 200 },
);

/** Does steps with a pool, and calls `check` after each with the holders of connections and the waiters. */
function play(
  connections: number,
  all: readonly Step[],
  check: (state: { held: Map<string, number>; waiting: Map<string, number[]>; free: number }) => void,
): void {
  const share = createFairShare<number>(connections);
  const held = new Map(PARTIES.map((party) => [party, 0]));
  const waiting = new Map(PARTIES.map((party): [string, number[]] => [party, []]));
  const partyOf = new Map<number, string>();
  let nowMs = 0;
  let number = 0;
  const admit = (admitted: readonly number[]): void => {
    for (const waiter of admitted) {
      const party = partyOf.get(waiter)!;
      // Waiters of a party are served in their order.
      expect(waiting.get(party)!.shift()).toBe(waiter);
      held.set(party, held.get(party)! + 1);
    }
  };
  for (const step of all) {
    nowMs += step.afterMs;
    const { party } = step;
    if (step.do === "enter") {
      number += 1;
      partyOf.set(number, party);
      const entered = share.enter(party, number, nowMs);
      if (entered === "in") held.set(party, held.get(party)! + 1);
      else if (entered === "waiting") waiting.get(party)!.push(number);
    } else if (step.do === "leave" && held.get(party)! > 0) {
      held.set(party, held.get(party)! - 1);
      admit(share.leave(party, nowMs));
    } else if (step.do === "withdraw") {
      const last = waiting.get(party)!.pop();
      expect(share.withdraw(party, last ?? -1)).toBe(last !== undefined);
    } else if (step.do === "late" || step.do === "calm") admit(share.adjustLimits(step.do === "late" ? 100 : 0, nowMs));
    expect(share.waiting()).toBe([...waiting.values()].flat().length);
    check({ held, waiting, free: connections - [...held.values()].reduce((sum, count) => sum + count, 0) });
  }
  // All requests end, and each has had a connection.
  for (let left = 1; left > 0;) {
    for (const party of PARTIES) {
      while (held.get(party)! > 0) {
        held.set(party, held.get(party)! - 1);
        admit(share.leave(party, nowMs));
      }
    }
    left = [...held.values()].reduce((sum, count) => sum + count, 0);
  }
  expect([...waiting.values()].flat()).toEqual([]);
}

const connections = fc.integer({ min: 1, max: 12 });

describe("a pool that is shared out", () => {
  test("never lends more connections than it has, nor more to a party than its share", () => {
    fc.assert(
      fc.property(connections, steps, (size, all) => {
        play(size, all, ({ held, free }) => {
          expect(free).toBeGreaterThanOrEqual(0);
          for (const count of held.values()) expect(count).toBeLessThanOrEqual(sharesOf(size).alone);
        });
      }),
    );
  });

  test("lets whoever has none in as long as a connection is free", () => {
    fc.assert(
      fc.property(connections, steps, (size, all) => {
        play(size, all, ({ held, waiting, free }) => {
          if (free === 0) return;
          for (const party of PARTIES) if (held.get(party) === 0) expect(waiting.get(party)).toEqual([]);
        });
      }),
    );
  });

  test("of which one party would take everything always has its reserve for others", () => {
    fc.assert(
      fc.property(fc.integer({ min: 4, max: 200 }), fc.integer({ min: 1, max: 400 }), (size, asks) => {
        const share = createFairShare<number>(size);
        for (let ask = 0; ask < asks; ask += 1) share.enter("noisy", ask, 0);
        const { reserve } = sharesOf(size);
        expect(reserve).toBeGreaterThanOrEqual(1);
        for (let quiet = 0; quiet < reserve; quiet += 1) expect(share.enter(`quiet ${quiet}`, -1, 0)).toBe("in");
      }),
    );
  });
});

describe("turns", () => {
  test("go round the organizations, whoever has more requests waiting", () => {
    const share = createFairShare<string>(4);
    // Three others leave one connection to take turns with.
    for (const held of ["x", "y", "z"]) share.enter(held, held, 0);
    expect(share.enter("w", "w", 0)).toBe("in");
    for (const waiter of ["a1", "a2", "a3", "b1", "b2", "c1"]) {
      expect(share.enter(waiter.charAt(0), waiter, 0)).toBe("waiting");
    }
    const order: string[] = [];
    let party = "w";
    while (share.waiting() > 0) {
      const [next] = share.leave(party, 0);
      order.push(next!);
      party = next!.charAt(0);
    }
    expect(order).toEqual(["a1", "b1", "c1", "a2", "b2", "a3"]);
  });

  test("pass over a party that has its share until a connection of it is free", () => {
    const share = createFairShare<string>(4);
    share.enter("quiet", "q", 0);
    expect(["n1", "n2", "n3"].map((name) => share.enter("noisy", name, 0))).toEqual(["in", "in", "waiting"]);
    expect(share.leave("quiet", 0)).toEqual([]);
    expect(share.leave("noisy", 0)).toEqual(["n3"]);
  });
});

describe("shares", () => {
  const heldBy = (share: ReturnType<typeof createFairShare<number>>, party: string, nowMs: number): number => {
    let held = 0;
    while (share.enter(party, held, nowMs) === "in") held += 1;
    return held;
  };

  test("leave an organization that is alone all but the reserve, even while work without an organization runs", () => {
    const share = createFairShare<number>(10);
    share.enter(NO_TENANT, -1, 0);
    share.leave(NO_TENANT, 0);
    expect(heldBy(share, "a", 0)).toBe(8);
  });

  test("are half of the pool while others ask, until these have not been seen for 10 s", () => {
    const beside = createFairShare<number>(10);
    for (const party of ["a", "b"]) {
      beside.enter(party, -1, 0);
      beside.leave(party, 0);
    }
    expect(heldBy(beside, "a", SHARED_MS - 1)).toBe(5);
    const later = createFairShare<number>(10);
    for (const party of ["b", "a"]) {
      later.enter(party, -1, 0);
      later.leave(party, 0);
    }
    expect(heldBy(later, "a", SHARED_MS)).toBe(8);
  });

  test("shrink, of the one that has most, while the database is late, and grow again when it is calm", () => {
    const share = createFairShare<number>(10);
    share.enter("quiet", -1, 0);
    expect(heldBy(share, "noisy", 0)).toBe(5);
    for (let judgment = 0; judgment < 20; judgment += 1) share.adjustLimits(LATE_MS + 1, 1);
    let held = 5;
    const leave = (): readonly number[] => {
      held -= 1;
      const admitted = share.leave("noisy", 1);
      held += admitted.length;
      return admitted;
    };
    for (let left = 0; left < 4; left += 1) expect(leave()).toEqual([]);
    // The request that waits takes the last one's place, and the quiet one gets as many as it requests.
    expect([leave(), held]).toEqual([[5], 1]);
    expect(heldBy(share, "noisy", 1)).toBe(0);
    expect(heldBy(share, "quiet", 1)).toBe(4);
    const admitted = Array.from({ length: 3 }, () => share.adjustLimits(0, 1).length);
    expect(admitted).toEqual([1, 0, 0]);
  });

  test("hold for streams as for work, but a late database bounds the work alone", () => {
    const share = createFairShare<number>(10);
    share.enter("quiet", -1, 0);
    for (let stream = 0; stream < 3; stream += 1) expect(share.enter("noisy", stream, 0, "stream")).toBe("in");
    for (let work = 10; work < 12; work += 1) expect(share.enter("noisy", work, 0)).toBe("in");
    for (let judgment = 0; judgment < 20; judgment += 1) share.adjustLimits(LATE_MS + 1, 1);
    expect(share.leave("noisy", 1)).toEqual([]);
    expect(share.enter("noisy", 12, 1)).toBe("waiting");
    expect(share.leave("noisy", 1)).toEqual([12]);
    expect(share.enter("noisy", 13, 1, "stream")).toBe("in");
    expect(share.enter("noisy", 14, 1, "stream")).toBe("waiting");
    expect(share.leave("noisy", 1, "stream")).toEqual([14]);
  });

  test("do not shrink for an organization that is alone, nor for what belongs to none", () => {
    const share = createFairShare<number>(10);
    expect(heldBy(share, "a", 0)).toBe(8);
    share.adjustLimits(100, 0);
    share.leave("a", 0);
    expect(share.leave("a", 0)).toEqual([]);
    const nobody = createFairShare<number>(10);
    for (const party of ["a", "b"]) nobody.enter(party, -1, 0);
    expect(heldBy(nobody, NO_TENANT, 0)).toBe(5);
    nobody.adjustLimits(100, 0);
    nobody.leave(NO_TENANT, 0);
    expect(nobody.enter(NO_TENANT, -2, 0)).toBe("waiting");
  });

  test.each([
    [1, { alone: 1, beside: 1, reserve: 0 }],
    [3, { alone: 3, beside: 3, reserve: 0 }],
    [4, { alone: 3, beside: 2, reserve: 1 }],
    [10, { alone: 8, beside: 5, reserve: 2 }],
    [200, { alone: 160, beside: 100, reserve: 40 }],
  ])("of a pool of %i", (size, expected) => {
    expect(sharesOf(size)).toEqual(expected);
  });

  test("bound what waits: the 201st request for each connection is refused, those of others are not", () => {
    const share = createFairShare<number>(1);
    share.enter("a", 0, 0);
    for (let number = 1; number <= 200; number += 1) expect(share.enter("a", number, 0)).toBe("waiting");
    expect(share.enter("a", 201, 0)).toBe("refused");
    expect(share.enter("b", 202, 0)).toBe("waiting");
  });

  test("cannot be given back by who has none", () => {
    expect(() => createFairShare<number>(4).leave("a", 0)).toThrow("that was not taken");
  });
});
