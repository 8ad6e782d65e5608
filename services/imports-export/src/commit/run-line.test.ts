import { expect, test } from "@jest/globals";
import type { SourceRun } from "../content/content.rules.ts";
import { runLineOf } from "./run-line.rules.ts";

const place = {
  id: "0c9b8a1e-0000-4000-8000-000000000001",
  projectId: "0c9b8a1e-0000-4000-8000-000000000002",
  importedUs: 1_800_000_000_000_001,
};
const IMPORTED = "2027-01-15T08:00:00.000001Z";

const sourceRun = (fields: Partial<SourceRun>): SourceRun => ({
  id: "r",
  name: "n",
  status: "finished",
  config: "{}",
  tags: ["a"],
  metadata: "{}",
  startedUs: null,
  finishedUs: null,
  ...fields,
});

const timesOf = (fields: Partial<SourceRun>) => {
  const { created_at, started_at, finished_at } = runLineOf(sourceRun(fields), place);
  expect(created_at).toBe(IMPORTED);
  return [started_at, finished_at];
};

test("a run keeps its times, to the microsecond, also before 1970", () => {
  expect(timesOf({ startedUs: 1_000_001, finishedUs: 2_500_000 })).toEqual([
    "1970-01-01T00:00:01.000001Z",
    "1970-01-01T00:00:02.500000Z",
  ]);
  expect(timesOf({ startedUs: -1, finishedUs: 0 })).toEqual([
    "1969-12-31T23:59:59.999999Z",
    "1970-01-01T00:00:00.000000Z",
  ]);
});

test("a run without a start begins when it ended, and without either with its import", () => {
  expect(timesOf({ finishedUs: 0 })).toEqual(["1970-01-01T00:00:00.000000Z", "1970-01-01T00:00:00.000000Z"]);
  expect(timesOf({})).toEqual([IMPORTED, IMPORTED]);
  expect(timesOf({ startedUs: 0 })).toEqual(["1970-01-01T00:00:00.000000Z", IMPORTED]);
});

test("a run does not end before it starts", () => {
  expect(timesOf({ startedUs: 1_000_000, finishedUs: 0 })[1]).toBe("1970-01-01T00:00:01.000000Z");
  expect(timesOf({ startedUs: place.importedUs + 1, status: "failed" })[1]).toBe("2027-01-15T08:00:00.000002Z");
});

test("a running run has no end, whatever its source says", () => {
  expect(timesOf({ status: "running", finishedUs: 0 })).toEqual([IMPORTED, undefined]);
});
