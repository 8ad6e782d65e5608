import { describe, expect, test } from "@jest/globals";
import { isSameJson } from "./same-json.ts";

describe("JSON is the same", () => {
  test.each([
    ["1", "1.0"],
    ["100", "1e2"],
    ["-0", "0"],
    ["12345678901234567890", "1234567890123456789e1"],
    ['"a"', '"\\u0061"'],
    ['"\\n"', '"\\u000a"'],
    ['{"a":1,"b":2}', '{"b":2,"a":1.0}'],
    ['[1,{"a":[]}]', '[ 1.0 , {"a":[ ]} ]'],
    [' "a" ', '"a"'],
    ["null", " null"],
  ])("%s and %s", (a, b) => {
    expect(isSameJson(a, b)).toBe(true);
    expect(isSameJson(b, a)).toBe(true);
  });
});

describe("JSON differs", () => {
  test.each([
    ["1", "2"],
    ["9007199254740993", "9007199254740992"],
    ["0.1", "0.10000000000000000001"],
    ["1", '"1"'],
    ["true", "false"],
    ["null", "false"],
    ["null", "0"],
    ["null", "{}"],
    ['""', "null"],
    ['"a"', '"A"'],
    ["[]", "{}"],
    ["[1,2]", "[2,1]"],
    ['{"a":1}', '{"a":1,"b":null}'],
    ['"\\\\"', '"/"'],
  ])("%s and %s", (a, b) => {
    expect(isSameJson(a, b)).toBe(false);
    expect(isSameJson(b, a)).toBe(false);
  });
});
