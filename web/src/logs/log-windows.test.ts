import fc from "fast-check";
import { describe, expect, test } from "@jest/globals";
import * as logs from "./log-windows.ts";

const line = (number: number) => ({ number, text: `line ${number}`, at: "" });
const linesOf = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => line(from + i));

describe("windows of a stream", () => {
  test("cover every line once", () => {
    const bounds = fc.tuple(
      fc.integer({ min: 0, max: 5 }),
      fc.integer({ min: 0, max: 5_000 }),
      fc.integer({ min: 1, max: 600 }),
    );
    fc.assert(
      fc.property(bounds, ([first, count, size]) => {
        const windows = logs.emptyWindows(first, first + count - 1, size);
        const starts = logs.rowStarts(windows);
        expect(starts[starts.length - 1]).toBe(count);
        for (let row = 0; row < count; row += 97) {
          const window = logs.windowOfRow(starts, row);
          const { from, to } = logs.windowRange(windows, window);
          expect(first + row).toBeGreaterThanOrEqual(from);
          expect(first + row).toBeLessThanOrEqual(to);
          expect(logs.rowOfLine(windows, starts, first + row)).toBe(row);
        }
      }),
    );
  });

  test("of a million lines are found quickly", () => {
    const windows = logs.emptyWindows(1, 1_000_000);
    expect(logs.windowCount(windows)).toBe(2_000);
    expect(logs.windowOf(windows, 777_777)).toBe(1_555);
    expect(logs.windowOf(windows, 5_000_000)).toBe(1_999);
    expect(logs.windowOf(windows, -1)).toBe(0);
  });

  test("that are loaded have the rows they have", () => {
    const empty = logs.emptyWindows(1, 30, 10);
    const windows = logs.withWindow(empty, 1, [line(11), line(11), line(20)]);
    const starts = logs.rowStarts(windows);
    expect([...starts]).toEqual([0, 10, 13, 23]);
    expect(logs.rowOfLine(windows, starts, 11)).toBe(10);
    expect(logs.rowOfLine(windows, starts, 15)).toBe(12);
    expect(logs.rowOfLine(windows, starts, 21)).toBe(13);
  });

  test("are kept in bounded number, those used last", () => {
    let windows = logs.emptyWindows(1, 1_000, 10);
    for (let i = 0; i < 100; i += 1) windows = logs.withWindow(windows, i, linesOf(i * 10 + 1, i * 10 + 10));
    expect(windows.loaded.size).toBe(40);
    expect(windows.loaded.has(99)).toBe(true);
    expect(windows.loaded.has(0)).toBe(false);
  });

  test("grow at the end, where the last one is read again", () => {
    const before = logs.withWindow(
      logs.withWindow(logs.emptyWindows(1, 15, 10), 0, linesOf(1, 10)),
      1,
      linesOf(11, 15),
    );
    const after = logs.grown(before, 32);
    expect([0, 1, 2].map((window) => logs.isWanting(after, window))).toEqual([false, true, true]);
    expect([0, 1, 2].map((window) => logs.rowsOfWindow(after, window))).toEqual([10, 10, 10]);
    const read = logs.withWindow(after, 1, linesOf(11, 20), 20);
    expect(logs.isWanting(read, 1)).toBe(false);
    expect(logs.isWanting(logs.withWindow(after, 1, linesOf(11, 17), 17), 1)).toBe(true);
    expect(logs.windowCount(after)).toBe(4);
    expect(logs.grown(after, 20)).toBe(after);
    expect(logs.windowCount(logs.grown(logs.emptyWindows(1, 0), 3))).toBe(1);
  });
});

const lines = (...texts: string[]) => texts.map((text, i) => ({ number: i + 1, text, at: "" }));
const kept = (...texts: string[]) => logs.collapseProgress(lines(...texts)).map(({ number }) => number);

test("a line that starts with a return replaces the one before it", () => {
  expect(kept("start", "  0%", "\r 50%", "\r100%", "end")).toEqual([1, 4, 5]);
});

test("colors before the return change nothing", () => {
  expect(kept("0%", "\u001b[32m\r50%")).toEqual([2]);
});

test("only states of one progress line replace each other", () => {
  expect(
    kept("loading the model", "\r  0%|  | 0/9", "\r 50%|# | 4/9 [00:01<?, ?it/s]", "\r100%|##| 9/9", "saved"),
  ).toEqual([1, 4, 5]);
  expect(kept("Epoch 1:  50%", "\rEpoch 1: 100%", "\rEpoch 2:   0%", "\rEpoch 2: 100%")).toEqual([2, 4]);
  expect(kept("loss 0.5 at 10/20", "\rval 1/3", "\rval 2/3")).toEqual([1, 3]);
  expect(kept("\r| fetching", "\r/ fetching", "\r- fetching", "\rdone")).toEqual([3, 4]);
});

test("carriage returns of Windows line ends are not progress", () => {
  expect(kept("a\r", "b\r", "\r", "c\r")).toEqual([1, 2, 3, 4]);
});

test("lines without returns all stay", () => {
  fc.assert(
    fc.property(fc.array(fc.string().filter((text) => !text.includes("\r"))), (texts) => {
      expect(logs.collapseProgress(lines(...texts))).toHaveLength(texts.length);
    }),
  );
});
