import { expect, test } from "@jest/globals";
import { exactInteger, isExactNumber, isRounded } from "./exact-number.ts";

test.each([
  [0n, "0"],
  [2n ** 53n - 1n, "9007199254740991"],
  [2n ** 53n + 1n, "9007199254740993"],
  [-(2n ** 63n), "-9223372036854775808"],
  [2n ** 64n - 1n, "18446744073709551615"],
  [10n ** 308n, `1${"0".repeat(308)}`],
])("the integer %s keeps its digits", (value, text) => {
  expect(JSON.stringify([exactInteger(value)])).toBe(`[${text}]`);
});

test("an integer beyond double range is infinite", () => {
  expect([exactInteger(10n ** 400n), exactInteger(-(10n ** 400n))]).toEqual([Infinity, -Infinity]);
});

test("only what keeps its digits is an exact number", () => {
  expect(isExactNumber(exactInteger(2n ** 60n))).toBe(true);
  for (const value of [1, "1", null, { rawJSON: "1" }]) expect(isExactNumber(value)).toBe(false);
});

test.each([
  ["9007199254740993", true],
  ["-9007199254740993", true],
  ["+9007199254740993", true],
  ["9007199254740992", false],
  ["1700000000000000000", false],
  ["1700000000000000001", true],
  ["0000000000000000001", false],
  ["0.10000000000000001", false],
  ["9".repeat(400), false],
  ["", false],
])("%s is rounded: %s", (digits, rounded) => {
  expect(isRounded(digits, Number(digits))).toBe(rounded);
});
