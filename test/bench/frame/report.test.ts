import { expect, test } from "@jest/globals";
import { createReport, verdictOf, type Target } from "./report.ts";

const target = (wish: Partial<Target>): Target => ({ row: 1, what: "a ratio", value: 1, wanted: 2, ...wish });

test.each([
  ["within what is wanted", { value: 2 }, "met"],
  ["beyond it, without a limit", { value: 900 }, "missed"],
  ["beyond it, within the limit", { value: 3, limit: 3 }, "missed"],
  ["beyond the limit", { value: 3.1, limit: 3 }, "FAILED"],
  ["not measured", { value: Number.NaN, limit: 3 }, "FAILED"],
  ["more, as wanted", { value: 5, more: true, wanted: 5 }, "met"],
  ["too little", { value: 1, more: true, wanted: 5, limit: 3 }, "FAILED"],
] as const)("%s", (_what, wish, verdict) => {
  expect(verdictOf(target(wish))).toBe(verdict);
});

test("a check fails on a limit and on requests that were not answered, not on a missed time", () => {
  const printed: string[] = [];
  const report = createReport((text) => printed.push(text));
  report.target(target({ value: 12, wanted: 10 }));
  expect(report.judge()).toBe(true);
  expect(printed.at(-1)).toBe("| 1 | a ratio | 12.0 | at most 10.0 |  | missed |");
  const cpu = { server: 1, database: 1, client: 1 };
  const counts = { requests: 1, rate: 1, concurrency: 1, sent: 2, bytes: Number.NaN, p50: 1, p95: 1, cpu };
  report.load("a case", { ...counts, errors: 1, firstError: new Error("503") });
  expect(report.judge()).toBe(false);
});
