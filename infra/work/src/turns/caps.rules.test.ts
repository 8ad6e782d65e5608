import { describe, expect, test } from "@jest/globals";
import { CALM_MS, CAP_MAX, CAP_MIN, adjustLimits, LATE_MS, type Load } from "./caps.rules.ts";

const LATE = LATE_MS + 1;
const CALM = CALM_MS - 1;
const UNBOUNDED = Number.POSITIVE_INFINITY;

const party = (held: number, cap = UNBOUNDED): Load => ({ held, load: held, cap });

describe("a late loop", () => {
  test("slows down only the party with the most requests in service", () => {
    const [heavy, light] = [party(50), party(20)];
    adjustLimits([light, heavy], LATE, true);
    expect([heavy.cap, light.cap]).toEqual([30, UNBOUNDED]);
  });

  test("slows it down again and again, but never below the minimum", () => {
    const heavy = party(64);
    for (let i = 0; i < 20; i += 1) {
      adjustLimits([heavy], LATE, true);
      heavy.held = Math.min(heavy.held, heavy.cap);
    }
    expect(heavy.cap).toBe(CAP_MIN);
  });

  test("slows down no party with only the minimum in service", () => {
    const parties = [party(CAP_MIN), party(1)];
    adjustLimits(parties, LATE, true);
    expect(parties.map(({ cap }) => cap)).toEqual([UNBOUNDED, UNBOUNDED]);
  });

  test("turns to the next one when the heaviest has little left", () => {
    const [first, second] = [party(40), party(30)];
    for (let i = 0; i < 20; i += 1) {
      adjustLimits([first, second], LATE, true);
      for (const one of [first, second]) one.held = Math.min(one.held, one.cap);
    }
    expect([first.cap, second.cap]).toEqual([CAP_MIN, CAP_MIN]);
  });

  test("slows down no party while only one organization asks", () => {
    const alone = party(500);
    adjustLimits([alone], 1000, false);
    expect(alone.cap).toBe(UNBOUNDED);
  });
});

describe("a calm loop", () => {
  test("gives one more at each judgment, and then no bound", () => {
    const slowed = party(2, 2);
    adjustLimits([slowed], CALM, true);
    expect(slowed.cap).toBe(3);
    slowed.cap = CAP_MAX;
    adjustLimits([slowed], CALM, true);
    expect(slowed.cap).toBe(UNBOUNDED);
  });

  test("between calm and late changes nothing", () => {
    const slowed = party(9, 9);
    adjustLimits([slowed], (CALM_MS + LATE_MS) / 2, true);
    expect(slowed.cap).toBe(9);
  });

  test("is not waited for once no other party asks", () => {
    const slowed = party(2, 2);
    adjustLimits([slowed], LATE, false);
    expect(slowed.cap).toBe(UNBOUNDED);
  });
});

test("a moment without requests does not hide who had most before", () => {
  const [busy, idle] = [party(0), party(10)];
  busy.load = 100;
  adjustLimits([busy, idle], LATE, true);
  expect(busy.cap).toBeLessThan(UNBOUNDED);
  expect(idle.cap).toBe(UNBOUNDED);
});
