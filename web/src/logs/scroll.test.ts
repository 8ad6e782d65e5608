import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { layoutOf, scrollTo, sliceOf } from "./scroll.ts";

const ROW = 18;
const VIEW = 600;

test("visible lines are drawn, and a few more", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2_000_000 }), fc.double({ min: 0, max: 1, noNaN: true }), (rows, share) => {
      const { height } = layoutOf(rows, ROW, VIEW);
      const scrollTop = share * Math.max(0, height - VIEW);
      const { first, end, top } = sliceOf(rows, ROW, VIEW, scrollTop);
      expect(end - first).toBeLessThanOrEqual(Math.ceil(VIEW / ROW) + 16);
      expect(top).toBeLessThanOrEqual(scrollTop + 0.001);
      const bottom = top + (end - first) * ROW;
      expect(bottom).toBeGreaterThanOrEqual(Math.min(scrollTop + VIEW, height) - 0.01);
    }),
  );
});

test("every row of a million can be scrolled to", () => {
  for (const row of [0, 1, 499_999, 999_999]) {
    const { first, end } = sliceOf(1_000_000, ROW, VIEW, scrollTo(1_000_000, ROW, VIEW, row));
    expect(row).toBeGreaterThanOrEqual(first);
    expect(row).toBeLessThan(end);
  }
  expect(layoutOf(1_000_000, ROW, VIEW).height).toBeLessThanOrEqual(12_000_000);
});
