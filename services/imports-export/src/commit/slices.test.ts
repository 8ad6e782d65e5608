import { expect, test } from "@jest/globals";
import { slicesOf } from "./slices.rules.ts";

test("slices stay within a number of items and a weight, unless one item alone is heavier", () => {
  expect(slicesOf([1, 2, 3, 4, 5], 2)).toEqual([[1, 2], [3, 4], [5]]);
  expect(slicesOf([3, 3, 9, 1, 1], 10, 6, (item) => item)).toEqual([[3, 3], [9], [1, 1]]);
  expect(slicesOf([], 2)).toEqual([]);
});
