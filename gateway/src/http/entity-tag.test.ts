import { describe, expect, test } from "@jest/globals";
import { readIfNoneMatch, weakTag } from "./range.ts";

describe("If-None-Match", () => {
  test.each([
    ["nothing", undefined, []],
    ["a weak tag", 'W/"a-_9"', ["a-_9"]],
    ["a strong tag, which is compared weakly", '"a"', ["a"]],
    ["several", '"a", W/"b" ,\t"c"', ["a", "b", "c"]],
    ["several without a space between", '"a",W/"b"', ["a", "b"]],
    ["any", "*", ["*"]],
    ["any, with space around", " * ", ["*"]],
    ["empty members", ', "a",, "b",', ["a", "b"]],
    ["an empty field", "", []],
    ["tags of others between ours", '"a", "x,y", "", "é", W/"b"', ["a", "b"]],
    ["an asterisk that is a tag", '"*"', []],
    ["a tag without quotes", "a", []],
    ["a tag whose quotes do not end", '"a', []],
    ["a good tag before a bad one", '"a", b', []],
    ["a mark in lower case", 'w/"a"', []],
    ["two tags without a comma", '"a" "b"', []],
    ["any within a list", '"a", *', []],
  ])("with %s", (_, field, tags) => {
    expect(readIfNoneMatch(field)).toEqual(tags);
  });

  test("with more tags than any client has is cut", () => {
    const field = Array.from({ length: 2000 }, (_, i) => `"t${i}"`).join(",");
    expect(readIfNoneMatch(field)).toHaveLength(100);
  });

  test("of much space is read in time that grows with its length", () => {
    expect(readIfNoneMatch(`"a"${" \t".repeat(8000)}x`)).toEqual([]);
  });
});

test("a tag is sent as a weak one", () => {
  expect(weakTag("abc")).toBe('W/"abc"');
  expect(readIfNoneMatch(weakTag("abc"))).toEqual(["abc"]);
});
