import { expect, test } from "@jest/globals";
import { exactJson, parseExact, valueText, type ExactValue } from "./exact-json.ts";

test("large integers keep their digits", () => {
  const parsed = parseExact('{"seed":12345678901234567890,"lr":1e-30,"n":5}') as { readonly [key: string]: ExactValue };
  expect(valueText(parsed["seed"]!)).toBe("12345678901234567890");
  expect(exactJson(parsed)).toBe('{"seed":12345678901234567890,"lr":1e-30,"n":5}');
});

test("values read as people write them", () => {
  expect([0.1, "a b", true, null, [1, "x"], { a: 1 }].map((value) => valueText(value))).toEqual([
    "0.1",
    "a b",
    "true",
    "none",
    "1, x",
    '{"a":1}',
  ]);
});
