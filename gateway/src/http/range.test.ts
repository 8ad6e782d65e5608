import { describe, expect, test } from "@jest/globals";
import { chooseRange, readIfNoneMatch, weakTag } from "./range.ts";

test.each<[string | undefined, ReturnType<typeof chooseRange>]>([
  [undefined, "whole"],
  ["  ", "whole"],
  ["bytes=0-3", { start: 0, end: 4 }],
  ["BYTES=0-3", { start: 0, end: 4 }],
  ["bytes=9-9", { start: 9, end: 10 }],
  ["bytes=9-", { start: 9, end: 10 }],
  ["bytes=5-99999999999999999999999", { start: 5, end: 10 }],
  ["bytes=-3", { start: 7, end: 10 }],
  ["bytes=-99999999999999999999999", { start: 0, end: 10 }],
  ["bytes= 0-1 ,", { start: 0, end: 2 }],
  ["bytes=0-1,3-4", "whole"],
  ["bytes=0-1,50-60", "whole"],
  ["items=0-1", "whole"],
  ["bytes=10-", "unsatisfiable"],
  ["bytes=10-12", "unsatisfiable"],
  ["bytes=50-60,70-", "unsatisfiable"],
  ["bytes=-0", "unsatisfiable"],
  ["bytes=", "unsatisfiable"],
  ["bytes=,", "unsatisfiable"],
  ["bytes=5-4", "unsatisfiable"],
  ["bytes=a-b", "unsatisfiable"],
  ["bytes=0-1,x", "unsatisfiable"],
  ["bytes=--1", "unsatisfiable"],
  ["bytes=0 - 1", "unsatisfiable"],
  ["bytes=0x0-1", "unsatisfiable"],
  ["bytes", "unsatisfiable"],
  ["bytes 0-1", "unsatisfiable"],
  ["b,s=0-1", "unsatisfiable"],
])("of ten bytes, %j", (header, chosen) => {
  expect(chooseRange(header, 10)).toEqual(chosen);
});

test("an empty body has no range", () => {
  expect([undefined, "bytes=0-", "bytes=-1", "bytes=0-0"].map((header) => chooseRange(header, 0))).toEqual([
    "whole",
    "unsatisfiable",
    "unsatisfiable",
    "unsatisfiable",
  ]);
});

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
