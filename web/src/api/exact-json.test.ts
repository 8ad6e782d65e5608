import { expect, test } from "@jest/globals";
import { exactJson, parseExact } from "./exact-json.ts";
import { valueText, type ExactValue } from "./exact-value.ts";

test("large integers keep their digits", () => {
  const parsed = parseExact('{"seed":12345678901234567890,"lr":1e-30,"n":5}') as { readonly [key: string]: ExactValue };
  expect(valueText(parsed["seed"]!)).toBe("12345678901234567890");
  expect(exactJson(parsed)).toBe('{"seed":12345678901234567890,"lr":1e-30,"n":5}');
});

test("only digits that a number would change are kept", () => {
  const text =
    '{"a":9007199254740993,"b":9007199254740992,"c":[-12345678901234567891],"d":1000000000000000000,"e":"1,9007199254740993,"}';
  const parsed = parseExact(text);
  expect(parsed).toEqual({
    a: 9_007_199_254_740_993n,
    b: 9_007_199_254_740_992,
    c: [-12_345_678_901_234_567_891n],
    d: 1e18,
    e: "1,9007199254740993,",
  });
  expect(exactJson(parsed)).toBe(text);
  expect(parseExact("[0.30000000000000004, 3]")).toEqual([0.1 + 0.2, 3]);
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
