import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { lateness, type Intervals } from "./lateness.rules.ts";

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
