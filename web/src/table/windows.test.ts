import { expect, test } from "@jest/globals";
import {
  columnWindow,
  hasCommon,
  pagesOf,
  rowsTop,
  scrollHeight,
  scrollToRow,
  scrollTopOf,
  SCROLL_MAX,
  seenRows,
  withAround,
} from "./windows.ts";

const heights = { rows: 100_000, rowHeight: 34, viewport: 800 };
const huge = { rows: 10_000_000, rowHeight: 34, viewport: 800 };

test("few rows are drawn wherever a list is scrolled, and all that are seen", () => {
  for (const top of [0, 17, 90_000 * 34, 90_000 * 34 + 17, 100_000 * 34]) {
    const only = seenRows(top, heights);
    const drawn = withAround(only, heights.rows);
    expect(only.end - only.first).toBeLessThanOrEqual(25);
    expect(drawn.end - drawn.first).toBeLessThanOrEqual(41);
    const seen = rowsTop(top, heights);
    for (const { first, end } of [only, drawn]) {
      expect(first * 34).toBeLessThanOrEqual(seen);
      expect(end * 34).toBeGreaterThanOrEqual(Math.min(seen + 800, 3_400_000));
    }
  }
  expect(seenRows(90_000 * 34, heights)).toEqual({ first: 90_000, end: 90_024 });
  expect(withAround({ first: 90_000, end: 90_024 }, 100_000)).toEqual({ first: 89_992, end: 90_032 });
  expect(seenRows(0, { ...heights, viewport: 10_000 })).toEqual({ first: 0, end: 76 });
  expect(withAround({ first: 100, end: 176 }, 100_000)).toEqual({ first: 100, end: 176 });
  expect(withAround(seenRows(0, { ...heights, rows: 3 }), 3)).toEqual({ first: 0, end: 3 });
  expect(seenRows(0, { ...heights, rows: 0 })).toEqual({ first: 0, end: 0 });
});

test("windows have rows in common where they overlap", () => {
  expect(hasCommon({ first: 0, end: 10 }, { first: 9, end: 20 })).toBe(true);
  expect(hasCommon({ first: 9, end: 20 }, { first: 0, end: 10 })).toBe(true);
  expect(hasCommon({ first: 0, end: 10 }, { first: 10, end: 20 })).toBe(false);
  expect(hasCommon({ first: 0, end: 10 }, { first: 3, end: 4 })).toBe(true);
});

test("a list that is higher than browsers scroll is mapped onto what they can", () => {
  expect(scrollHeight(heights)).toBe(3_400_000);
  expect(scrollHeight(huge)).toBe(SCROLL_MAX);
  expect(seenRows(SCROLL_MAX - 800, huge).end).toBe(10_000_000);
  const top = scrollToRow(5_000_000, 0, huge)!;
  const { first, end } = seenRows(top, huge);
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
