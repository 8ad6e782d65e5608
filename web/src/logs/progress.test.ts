import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { collapseProgress } from "./progress.ts";

const lines = (...texts: string[]) => texts.map((text, i) => ({ number: i + 1, text, at: "" }));
const kept = (...texts: string[]) => collapseProgress(lines(...texts)).map(({ number }) => number);

test("a line that starts with a return replaces the one before it", () => {
  expect(kept("start", "  0%", "\r 50%", "\r100%", "end")).toEqual([1, 4, 5]);
});

test("colors before the return change nothing", () => {
  expect(kept("a", "\u001b[32m\r50%")).toEqual([2]);
});

test("carriage returns of Windows line ends are not progress", () => {
  expect(kept("a\r", "b\r", "\r", "c\r")).toEqual([1, 2, 3, 4]);
});

test("lines without returns all stay", () => {
  fc.assert(
    fc.property(fc.array(fc.string().filter((text) => !text.includes("\r"))), (texts) => {
      expect(collapseProgress(lines(...texts))).toHaveLength(texts.length);
    }),
  );
});
