import { expect, test } from "@jest/globals";
import {
  columnWindow,
  pagesOf,
  rowWindow,
  rowsTop,
  scrollHeight,
  scrollToRow,
  scrollTopOf,
  SCROLL_MAX,
} from "./windows.ts";

const heights = { rows: 100_000, rowHeight: 34, viewport: 800 };
const huge = { rows: 10_000_000, rowHeight: 34, viewport: 800 };

test("few rows are drawn wherever a list is scrolled, and all that are seen", () => {
  for (const top of [0, 17, 90_000 * 34, 100_000 * 34]) {
    const { first, end } = rowWindow(top, heights);
    expect(end - first).toBeLessThanOrEqual(76);
    const seen = rowsTop(top, heights);
    expect(first * 34).toBeLessThanOrEqual(seen);
    expect(end * 34).toBeGreaterThanOrEqual(Math.min(seen + 800, 3_400_000));
  }
  expect(rowWindow(0, { ...heights, viewport: 10_000 })).toEqual({ first: 0, end: 76 });
  expect(rowWindow(0, { ...heights, rows: 3 })).toEqual({ first: 0, end: 3 });
});

test("a list that is higher than browsers scroll is mapped onto what they can", () => {
  expect(scrollHeight(heights)).toBe(3_400_000);
  expect(scrollHeight(huge)).toBe(SCROLL_MAX);
  expect(rowWindow(SCROLL_MAX - 800, huge).end).toBe(10_000_000);
  const top = scrollToRow(5_000_000, 0, huge)!;
  const { first, end } = rowWindow(top, huge);
  expect(first).toBeLessThanOrEqual(5_000_000);
  expect(end).toBeGreaterThan(5_000_000);
  expect(rowsTop(scrollTopOf(123_456, huge), huge)).toBeCloseTo(123_456, 3);
});

test("a row that is seen is not scrolled to", () => {
  expect(scrollToRow(3, 0, heights)).toBeUndefined();
  expect(scrollToRow(0, 340, heights)).toBe(0);
  expect(scrollToRow(30, 0, heights)).toBe(31 * 34 - 800);
});

test("the pages of rows are those that have some of them", () => {
  expect(pagesOf({ first: 95, end: 101 }, 100)).toEqual([0, 1]);
  expect(pagesOf({ first: 0, end: 100 }, 100)).toEqual([0]);
  expect(pagesOf({ first: 5, end: 5 }, 100)).toEqual([]);
});

test("pinned columns are always drawn, others where they are seen", () => {
  const columns = Array.from({ length: 100 }, (_, i) => ({ width: 100, pinned: i === 0 }));
  const { placed, width } = columnWindow(columns, { scrollLeft: 5000, viewport: 500 });
  expect(width).toBe(10_000);
  expect(placed.map(({ index }) => index)).toEqual([0, 48, 49, 50, 51, 52, 53, 54, 55, 56]);
  expect(placed[1]!.left).toBe(4800);
});
