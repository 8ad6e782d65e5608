import { expect, test } from "@jest/globals";
import { categoryEffect } from "./effect.ts";

test("values that separate a metric completely have a large effect, and such that do not have none", () => {
  const metric = [1, 2, 3, 11, 12, 13];
  const strong = categoryEffect(["a", "a", "a", "b", "b", "b"], metric)!;
  // Ranks 1 to 6: 13.5 of 17.5 lie between the groups, and epsilon squared is 1 - (4 / 17.5) * 5 / 4.
  expect(strong.effect).toBeCloseTo(Math.sqrt(1 - ((4 / 17.5) * 5) / 4), 12);
  expect(categoryEffect(["a", "b", "a", "b", "a", "b"], [1, 1, 2, 2, 3, 3])?.effect).toBe(0);
});

test("each value has the figures of its runs, and runs without a value or a number are left out", () => {
  const effect = categoryEffect([true, true, false, null, true, 3], [1, 3, 5, 7, null, 9]);
  expect(effect).toMatchObject({
    runs: 3,
    groups: [
      { value: "true", runs: 2, mean: 2, min: 1, max: 3 },
      { value: "false", runs: 1, mean: 5, min: 5, max: 5 },
    ],
  });
});

test.each([
  ["one value", ["a", "a", "a"]],
  ["a value for each run, such as a name", ["a", "b", "c"]],
  ["numbers", [1, 1, 2]],
])("%s have no effect that could be measured", (_, values) => {
  expect(categoryEffect(values, [1, 2, 3])).toBeUndefined();
});
