import fc from "fast-check";
import { expect, test } from "@jest/globals";
import { atStep, nearestStop, sliderSteps } from "./steps.ts";

const at = (step: number | null, created = "2026-01-01T00:00:00Z") => ({ step, created_at: created });

test("a slider stops at every step once", () => {
  expect(sliderSteps([at(5), at(1), at(null), at(5), at(10)])).toEqual([1, 5, 10]);
});

test.each([
  [7, 5],
  [5, 5],
  [0, 1],
  [99, 10],
  [undefined, 10],
])("a slider at %s shows what was logged at %s", (step, shown) => {
  expect(atStep([at(10), at(1), at(5)], step)?.step).toBe(shown);
});

test("of several at one step the newest is shown", () => {
  const newest = at(5, "2026-01-02T00:00:00Z");
  expect(atStep([at(5), newest, at(5)], 6)).toBe(newest);
});

test("objects without a step give way to those with one", () => {
  expect(atStep([at(null), at(3)], 1)?.step).toBe(3);
  expect(atStep([at(null)], 1)?.step).toBeNull();
  expect(atStep([], 1)).toBeUndefined();
});

test("a slider at a step that a thing has shows that step", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(50), { minLength: 1 }), fc.nat(60), (steps, step) => {
      const shown = atStep(
        steps.map((one) => at(one)),
        step,
      )!.step!;
      const reached = steps.filter((one) => one <= step);
      expect(shown).toBe(reached.length > 0 ? Math.max(...reached) : Math.min(...steps));
    }),
  );
});

test("an address with a step that is not a stop leads to the nearest one", () => {
  expect(nearestStop([1, 5, 10], 7)).toBe(5);
  expect(nearestStop([1, 5, 10], 8)).toBe(10);
  expect(nearestStop([1, 3], 2)).toBe(1);
  expect(nearestStop([], 2)).toBeUndefined();
});
