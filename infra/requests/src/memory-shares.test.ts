import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { createMemoryShares } from "./memory-shares.rules.ts";

describe("memory of what waits", () => {
  test("is for one party up to four fifths, and the rest for the next one", () => {
    const shares = createMemoryShares(100);
    for (let taken = 0; taken < 80; taken += 10) expect(shares.take("a", 10)).toBe(true);
    expect(shares.take("a", 1)).toBe(false);
    expect(shares.take("b", 20)).toBe(true);
    expect(shares.take("b", 1)).toBe(false);
    shares.giveBack("a", 10);
    expect(shares.take("a", 1)).toBe(false);
    expect(shares.take("c", 10)).toBe(true);
  });

  test("leaves something for the next, however many take what they can", () => {
    const shares = createMemoryShares(10_000);
    const parties = ["a", "b", "c", "d"];
    const held = new Map(parties.map((party) => [party, 0]));
    for (let round = 0; round < 10_000; round += 1) {
      for (const party of parties) if (shares.take(party, 1)) held.set(party, held.get(party)! + 1);
    }
    // 4 / (1 + 4 * 4) of all for each.
    for (const bytes of held.values()) expect(bytes).toBeCloseTo(10_000 * (4 / 17), -2);
    expect(shares.take("e", 500)).toBe(true);
  });

  test("takes a request of any size when it is alone, and no other one next to it", () => {
    const shares = createMemoryShares(100);
    expect(shares.take("a", 1000)).toBe(true);
    expect([shares.take("a", 1), shares.take("b", 1)]).toEqual([false, false]);
    shares.giveBack("a", 1000);
    expect(shares.take("b", 100)).toBe(true);
  });
});

test("no more is taken than exists, except by a request that is alone, and all of it can be given back", () => {
  const step = fc.record({
    party: fc.constantFrom("a", "b", "c"),
    bytes: fc.integer({ min: 1, max: 60 }),
    back: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const shares = createMemoryShares(50);
      const taken: { party: string; bytes: number }[] = [];
      for (const { party, bytes, back } of steps) {
        const last = back ? taken.pop() : undefined;
        if (last !== undefined) shares.giveBack(last.party, last.bytes);
        else if (shares.take(party, bytes)) taken.push({ party, bytes });
        const total = taken.reduce((sum, one) => sum + one.bytes, 0);
        expect(total <= 50 || taken.length === 1).toBe(true);
      }
      for (const { party, bytes } of taken) shares.giveBack(party, bytes);
      expect(shares.take("d", 1000)).toBe(true);
    }),
  );
});
