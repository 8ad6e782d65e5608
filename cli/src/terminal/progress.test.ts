import { expect, test } from "@jest/globals";
import { amount, progressText } from "./progress.ts";

const half = { done: 5_000_000, total: 10_000_000, measure: "bytes", seconds: 2 } as const;

test("a bar has the share, the rate and the remaining time", () => {
  expect(progressText({ ...half, bar: true })).toBe(
    "[############------------] 50%  5.0 MB of 10.0 MB  2.5 MB/s  2 s left",
  );
  expect(progressText({ ...half, bar: false })).toBe("50%  5.0 MB of 10.0 MB  2.5 MB/s  2 s left");
});

test("without a total there is no share", () => {
  expect(progressText({ done: 3000, total: undefined, measure: "points", seconds: 2, bar: true })).toBe(
    "3,000 points  1,500 points/s",
  );
});

test("amounts of bytes have a unit that people read", () => {
  expect([0, 999, 1000, 2.5e9].map((bytes) => amount(bytes, "bytes"))).toEqual(["0 B", "999 B", "1.0 KB", "2.5 GB"]);
});
