import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { readDecimals, readOffset, readSeconds } from "./read-instant.ts";

describe("date and time of day", () => {
  test("are what a calendar says, from the year 1 to the year 9999", () => {
    const first = Date.parse("0001-01-01T00:00:00Z") / 1000;
    const last = Date.parse("9999-12-31T23:59:59Z") / 1000;
    fc.assert(
      fc.property(fc.integer({ min: first, max: last }), (seconds) => {
        expect(readSeconds(new Date(seconds * 1000).toISOString())).toBe(seconds);
      }),
      { numRuns: 10_000 },
    );
  });

  test.each([
    ["the first of all", "0001-01-01T00:00:00", -62_135_596_800],
    ["the last of all", "9999-12-31T23:59:59", 253_402_300_799],
    ["a leap day", "2024-02-29T00:00:00", 1_709_164_800],
    ["a leap day in a century", "2000-02-29T12:00:00", 951_825_600],
    ["before 1970, with any suffix", "1969-12-31T23:59:59 or so", -1],
  ])("%s", (_, text, seconds) => expect(readSeconds(text)).toBe(seconds));

  test.each([
    ["29 February of no leap year", "2026-02-29T00:00:00"],
    ["29 February of a century", "1900-02-29T00:00:00"],
    ["31 April", "2026-04-31T00:00:00"],
    ["day 0", "2026-01-00T00:00:00"],
    ["day 32", "2026-01-32T00:00:00"],
    ["month 0", "2026-00-01T00:00:00"],
    ["month 13", "2026-13-01T00:00:00"],
    ["the year 0", "0000-01-01T00:00:00"],
    ["hour 24", "2026-01-01T24:00:00"],
    ["minute 60", "2026-01-01T00:60:00"],
    ["second 60", "2026-01-01T00:00:60"],
    ["a blank for the T", "2026-01-01 00:00:00"],
    ["a small t", "2026-01-01t00:00:00"],
    ["other separators", "2026/01/01T00:00:00"],
    ["no colons", "2026-01-01T00.00.00"],
    ["too few digits", "2026-01-01T00:00:0"],
    ["a letter in the century", "2x26-01-01T00:00:00"],
    ["a letter in the year", "202x-01-01T00:00:00"],
    ["a letter in the day", "2026-01-0xT00:00:00"],
    ["a blank in the hour", "2026-01-01T 1:00:00"],
    ["a sign in the second", "2026-01-01T00:00:+1"],
    ["digits of another script", "2026-01-0\u0661T00:00:00"],
    ["nothing", ""],
  ])("not with %s", (_, text) => expect(readSeconds(text)).toBeNaN());
});

describe("decimals", () => {
  test.each([
    ["5", 500_000],
    ["000001", 1],
    ["678901", 678_901],
    ["1234569", 123_456],
    ["999999999", 999_999],
    ["0", 0],
  ])(".%s are %d microseconds", (digits, micros) =>
    expect(readDecimals(`.${digits}Z`, 1, digits.length + 1)).toBe(micros),
  );

  test.each([
    ["none", "Z", 0, 0],
    ["a letter", "12x4", 0, 4],
    ["a letter below a microsecond", "123456x", 0, 7],
    ["the end of the text", "12", 0, 3],
  ])("not %s", (_, text, from, to) => expect(readDecimals(text, from, to)).toBeNaN());
});

describe("an offset", () => {
  test.each([
    ["+00:00", 0],
    ["+05:30", 19_800],
    ["-08:00", -28_800],
    ["-23:59", -86_340],
  ])("of %s is %d seconds", (text, seconds) => expect(readOffset(`05${text}`, 2)).toBe(seconds));

  test.each(["+24:00", "+00:60", "05:30", " 05:30", "+0530", "+05-30", "+5:30", "+x5:30", "+05:3", ""])(
    "is not %j",
    (text) => expect(readOffset(text, 0)).toBeNaN(),
  );
});
