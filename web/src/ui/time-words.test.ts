import { expect, test } from "@jest/globals";
import { durationWords, relativeTime, spanWords } from "./words.ts";

const now = Date.UTC(2026, 10, 25, 12);
const ago = (ms: number): string => relativeTime(now - ms, now);

test.each([
  [0, "just now"],
  [59_999, "just now"],
  [60_000, "1 min ago"],
  [3_599_999, "59 min ago"],
  [3_600_000, "1 h ago"],
  [86_400_000, "1 d ago"],
  [13 * 86_400_000, "13 d ago"],
  [-7_200_000, "in 2 h"],
])("%d ms ago is %s", (ms, words) => {
  expect(ago(ms)).toBe(words);
});

test("a time long ago has its day, and its year if it is another one", () => {
  expect(ago(20 * 86_400_000)).toBe("Nov 5");
  expect(ago(600 * 86_400_000)).toMatch(/^\w{3} \d+, 2025$/);
});

test.each([
  [0, "0 ms"],
  [850, "850 ms"],
  [12_449, "12.4 s"],
  [200_000, "3 min 20 s"],
  [120_000, "2 min"],
  [7_500_000, "2 h 5 min"],
  [273_600_000, "3 d 4 h"],
])("%d ms last %s", (ms, words) => {
  expect(durationWords(ms)).toBe(words);
});

test.each([
  [-5, "0 s"],
  [59_400, "59 s"],
  [60_000, "1 min"],
  [3_600_000, "1 h"],
  [3_660_000, "1 h 1 min"],
  [90_000_000, "1 d 1 h"],
  [172_800_000, "2 d"],
])("%d ms are %s", (ms, words) => expect(spanWords(ms)).toBe(words));
