import { expect, test } from "@jest/globals";
import { byMinute, minuteTable } from "./by-minute.ts";
import type { Sample } from "./sample-processes.ts";

const answer = (dueMs: number, latencyMs: number, error?: unknown) => ({ index: 0, dueMs, latencyMs, error });
const sample = (atMs: number, megabytes: number): Sample => ({
  atMs,
  memory: new Map([["server", megabytes]]),
  lagSeconds: Number.NaN,
  rowsWaiting: 5,
  oldestSeconds: 1,
  cpu: { server: 1, database: 0.5, client: 0.25 },
  seconds: 2,
});

const minutes = byMinute(
  [answer(0, 1), answer(59_999, 3), answer(60_000, 50), answer(61_000, 9, new Error("503"))],
  [sample(2000, 100), sample(4000, 110), sample(62_000, 90)],
  90,
);

test("answers count in the minute in which they were due, samples in that in which they were taken", () => {
  expect(minutes).toMatchObject([
    { minute: 1, answered: 2, errors: 0, seconds: 60, latency: { p99: 3 }, cores: { server: 0.5, database: 0.25 } },
    { minute: 2, answered: 1, errors: 1, seconds: 30, latency: { p50: 50 } },
  ]);
  expect(minutes[0]?.memory.get("server")).toEqual({ min: 100, median: 105, max: 110 });
});

test("a table with a line per minute; what was never reported is left empty", () => {
  const lines = minuteTable(minutes, 1000).split("\n");
  expect(lines).toHaveLength(4);
  expect(lines[3]).toBe(
    "| 2 | 0.0 | 33 | 50.0 | 50.0 | 50.0 | 1 | 90 / 90 / 90 |  /  /  | 1.0 / 1.0 / 1.0 | 5 / 5 / 5 | 0.50 + 0.25 + 0.13 |",
  );
});
