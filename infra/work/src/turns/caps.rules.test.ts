import fc from "fast-check";
import { describe, expect, test } from "@jest/globals";
import { CALM_MS, CAP_MAX, CAP_MIN, adjustLimits, LATE_MS, type Load, lateness, type Intervals } from "./caps.rules.ts";

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

const RESOLUTION_MS = 10;

function statisticsOf(intervals: readonly number[]): Intervals {
  const total = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0);
  return { sum: total(intervals), squares: total(intervals.map((one) => one * one)) };
}

/** The average wait of moments in each hundredth of a millisecond until the next tick, above that of an idle loop. */
function averageWait(intervals: readonly number[]): number {
  let [waited, moments] = [0, 0];
  for (const interval of intervals) {
    for (let at = 0.005; at < interval; at += 0.01) {
      waited += interval - at;
      moments += 1;
    }
  }
  return Math.max(0, waited / moments - RESOLUTION_MS / 2);
}

describe("the lateness of the event loop", () => {
  test.each([
    ["is 0 while the clock ticks as it should", [10, 10, 10], 0],
    ["is 0 where nothing was measured", [], 0],
    ["is half of the delay that all ticks have", [30, 30, 30], 10],
    ["counts long intervals by their length", [60, 10, 10, 10, 10], 15],
  ])("%s", (_, intervals, expected) => {
    expect(lateness(statisticsOf(intervals), RESOLUTION_MS)).toBeCloseTo(expected, 6);
  });

  test("is what a callback waits on average that becomes ready at a moment of chance", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 10, max: 400 }), { minLength: 1, maxLength: 10 }), (intervals) => {
        expect(lateness(statisticsOf(intervals), RESOLUTION_MS)).toBeCloseTo(averageWait(intervals), 1);
      }),
    );
  });
});
