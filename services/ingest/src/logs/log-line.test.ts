import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { createTimeWriter, readSentTime, splitMicros } from "./log-line.rules.ts";

describe("the time that a client sent", () => {
  test.each([
    ["1970-01-01T00:00:00Z", { seconds: 0, micros: 0 }],
    ["2026-01-02T03:04:05.678901Z", { seconds: 1_767_323_045, micros: 678_901 }],
    ["2026-01-02T03:04:05.5Z", { seconds: 1_767_323_045, micros: 500_000 }],
    ["1969-12-31T23:59:59.000001Z", { seconds: -1, micros: 1 }],
    ["0001-01-01T00:00:00Z", { seconds: -62_135_596_800, micros: 0 }],
    ["9999-12-31T23:59:59.999999Z", { seconds: 253_402_300_799, micros: 999_999 }],
  ])("%s is read, and written again as it was", (text, time) => {
    expect(readSentTime(text)).toEqual(time);
    expect(createTimeWriter()(time.seconds, time.micros)).toBe(text);
  });

  test("is what a calendar says, on every day from the year 1 to the year 9999", () => {
    const firstMs = Date.parse("0001-01-01T00:00:00Z");
    const lastMs = Date.parse("9999-12-31T23:59:59Z");
    const anySecond = fc.integer({ min: firstMs / 1000, max: lastMs / 1000 });
    fc.assert(
      fc.property(anySecond, fc.nat(999_999), (seconds, micros) => {
        expect(readSentTime(createTimeWriter()(seconds, micros))).toEqual({ seconds, micros });
      }),
      { numRuns: 5_000 },
    );
  });

  test.each([
    ["29 February of no leap year", "1900-02-29T00:00:00Z"],
    ["day 0", "2026-01-00T00:00:00Z"],
    ["month 0", "2026-00-01T00:00:00Z"],
    ["minute 60", "2026-01-01T00:60:00Z"],
    ["no zone", "2026-01-02T03:04:05"],
    ["another zone", "2026-01-02T03:04:05+00:00"],
    ["a day that the month does not have", "2026-02-30T00:00:00Z"],
    ["a thirteenth month", "2026-13-01T00:00:00Z"],
    ["the hour 24", "2026-01-01T24:00:00Z"],
    ["a leap second", "2026-06-30T23:59:60Z"],
    ["the year 0", "0000-01-01T00:00:00Z"],
    ["seven decimals", "2026-01-02T03:04:05.1234567Z"],
    ["a point without decimals", "2026-01-02T03:04:05.Z"],
    ["no time at all", "now"],
  ])("with %s is not a time", (_, text) => {
    expect(readSentTime(text)).toBeUndefined();
  });
});

test("a writer remembers the second before, not more", () => {
  const write = createTimeWriter();
  expect([write(0, 1), write(0, 20), write(1, 0), write(0, 100_000)]).toEqual([
    "1970-01-01T00:00:00.000001Z",
    "1970-01-01T00:00:00.00002Z",
    "1970-01-01T00:00:01Z",
    "1970-01-01T00:00:00.1Z",
  ]);
});

test.each([
  [0, 0, 0],
  [1_767_323_045_678_901, 1_767_323_045, 678_901],
  [-1, -1, 999_999],
])("%d microseconds are %d seconds and %d microseconds", (micros, seconds, rest) => {
  expect(splitMicros(micros)).toEqual({ seconds, micros: rest });
});
