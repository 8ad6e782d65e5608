import { expect, test } from "@jest/globals";
import { byteWords, counted, metricWords } from "./words.ts";

test.each([
  [0, "0 B"],
  [999, "999 B"],
  [1000, "1 KB"],
  [1_240_000, "1.24 MB"],
  [45_678_000, "45.7 MB"],
  [345_678_000, "346 MB"],
  [2e12, "2 TB"],
])("%d bytes are %s", (bytes, words) => {
  expect(byteWords(bytes)).toBe(words);
});

test("one of something has no plural", () => {
  expect([0, 1, 1200].map((count) => counted(count, "run"))).toEqual(["0 runs", "1 run", "1,200 runs"]);
  expect(counted(2, "entry", "entries")).toBe("2 entries");
});

test.each([
  [0.123456789, "0.12346"],
  [1234567, "1,234,567"],
  [1e-12, "1e-12"],
  [null, "not finite"],
  ["-Infinity", "-Infinity"],
] as const)("%p is written %s", (value, words) => expect(metricWords(value)).toBe(words));
