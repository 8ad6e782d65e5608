import fc from "fast-check";
import { describe, expect, test } from "@jest/globals";
import { createAllowance, isBeyondLimits } from "./export-limits.rules.ts";

const run = (more: object = {}) => ({ points: 0, metricKeys: 0, artifacts: 0, ...more });

describe("counters tell that rows are left out", () => {
  test.each([
    ["points", 100_000],
    ["metricKeys", 25_000],
    ["artifacts", 10_000],
  ])("of %s, over all runs, beyond %i", (what, max) => {
    expect(isBeyondLimits([run({ [what]: max - 1 }), run({ [what]: 1 })])).toBe(false);
    expect(isBeyondLimits([run({ [what]: max - 1 }), run({ [what]: 2 })])).toBe(true);
  });
});

test("an allowance gives out the first rows, and knows whether any were left out", () => {
  fc.assert(
    fc.property(fc.nat(20), fc.array(fc.array(fc.nat(), { maxLength: 10 })), (max, lists) => {
      const allowance = createAllowance(max);
      const taken = lists.flatMap((rows) => [...allowance.take(rows)]);
      const all = lists.flat();
      expect(taken).toEqual(all.slice(0, max));
      expect(allowance.left()).toBe(Math.max(max - all.length, 0));
      expect(allowance.isExceeded()).toBe(all.length > max);
    }),
  );
});
