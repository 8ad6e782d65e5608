import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { RE2JS, RE2JSException, RE2Set } from "re2js";

import { parse } from "./parse.ts";
import { oracle } from "./patterns.fixture.ts";
import { isRegexError } from "./regex-error.ts";
import type { Node } from "./tree.ts";

/** A tree in short: the code points of a set in hexadecimal, and how many of them there may be. */
function show(node: Node): string {
  switch (node.kind) {
    case "run": {
      const range = (lo: number, hi: number) => (lo === hi ? lo.toString(16) : `${lo.toString(16)}-${hi.toString(16)}`);
      const ranges = node.set.ranges.flatMap((lo, i, all) => (i % 2 === 0 ? [range(lo, all[i + 1]!)] : []));
      return `[${ranges.join(" ")}]{${node.min},${node.max}}`;
    }
    case "assert":
      return `assert ${node.flag}`;
    case "concat":
    case "either":
      return `${node.kind}(${node.parts.map(show).join(", ")})`;
    case "plus":
    case "maybe":
      return `${node.kind}(${show(node.body)})`;
    case "atMost":
    case "atLeast":
      return `${node.kind} ${node.times}(${show(node.body)})`;
    default:
      return node.kind;
  }
}

describe("the syntax tree of re2js", () => {
  test("has the nodes, and the places in them, that we read", () => {
    const set = new RE2Set(RE2Set.UNANCHORED, RE2JS.CASE_INSENSITIVE);
    set.add("ab");
    const root: unknown = set.regexps[0];
    expect(root).toMatchObject({ op: 2, flags: expect.any(Number), subs: [], runes: [0x41, 0x42] });
    const names: unknown = Reflect.get((root as object).constructor, "Op");
    const known =
      (names as string[])[0] === undefined
        ? []
        : Object.values(names as object).filter((name) => typeof name === "string");
    expect(known).toEqual([
      "NO_MATCH",
      "EMPTY_MATCH",
      "LITERAL",
      "CHAR_CLASS",
      "ANY_CHAR_NOT_NL",
      "ANY_CHAR",
      "BEGIN_LINE",
      "END_LINE",
      "BEGIN_TEXT",
      "END_TEXT",
      "WORD_BOUNDARY",
      "NO_WORD_BOUNDARY",
      "CAPTURE",
      "STAR",
      "PLUS",
      "QUEST",
      "REPEAT",
      "CONCAT",
      "ALTERNATE",
      "PLB",
      "NLB",
      "LEFT_PAREN",
      "VERTICAL_BAR",
    ]);
  });

  test("fails a pattern with an error that we know", () => {
    expect(() => new RE2Set().add("(")).toThrow(RE2JSException);
    expect(() => parse("(")).toThrow(expect.objectContaining({ name: "RegexError", fault: "invalid" }));
  });
});

describe("a pattern is parsed into", () => {
  test.each([
    ["characters in every simple case", "aÉ1", "concat([41 61]{1,1}, [c9 e9]{1,1}, [31]{1,1})"],
    ["three cases where there are three", "k", "[4b 6b 212a]{1,1}"],
    ["the case as written after (?-i)", "(?-i)a", "[61]{1,1}"],
    ["the last character there is", "\\x{10FFFF}", "[10ffff]{1,1}"],
    ["classes with the cases of their ranges", "[j-l]", "[4a-4c 6a-6c 212a]{1,1}"],
    ["the dot with and without the newline", ".(?s:.)", "concat([0-9 b-10ffff]{1,1}, [0-10ffff]{1,1})"],
    ["assertions", "^$\\A\\z\\b\\B(?m)^$", "concat(assert 4, assert 8, assert 16, assert 32, assert 1, assert 2)"],
    [
      "repeats of one character",
      "1?2*3+4{2}5{2,}6{2,4}",
      "concat([31]{0,1}, [32]{0,Infinity}, [33]{1,Infinity}, [34]{2,2}, [35]{2,Infinity}, [36]{2,4})",
    ],
    ["one repeat for neighbours of one set", "1{2}1?(?:1{3}){4}[1]+", "[31]{15,Infinity}"],
    [
      "repeats of repeats of one character",
      "(?:1{0,3}){0,5}2(?:3?)+",
      "concat([31]{0,15}, [32]{1,1}, [33]{0,Infinity})",
    ],
    ["groups without their parentheses", "((1)(?:2)(?P<x>3))+", "plus(concat([31]{1,1}, [32]{1,1}, [33]{1,1}))"],
    ["repeats of groups written out", "(?:12){2}", "concat([31]{1,1}, [32]{1,1}, [31]{1,1}, [32]{1,1})"],
    ["optional repeats of groups in one", "(?:12?){0,3}", "atMost 3(concat([31]{1,1}, [32]{0,1}))"],
    [
      "repeats of groups without an upper bound in one",
      "(?:1|23){4,}",
      "atLeast 4(either([31]{1,1}, concat([32]{1,1}, [33]{1,1})))",
    ],
    [
      "repeats of groups with both bounds in two",
      "(?:12){1,4}",
      "concat([31]{1,1}, [32]{1,1}, atMost 3(concat([31]{1,1}, [32]{1,1})))",
    ],
    ["alternatives", "12|3|", "maybe(either(concat([31]{1,1}, [32]{1,1}), [33]{1,1}))"],
    ["nothing that can match", "[^\\x00-\\x{10FFFF}]|1", "[31]{1,1}"],
    ["nothing at all", "[^\\x00-\\x{10FFFF}]1", "never"],
    ["the empty text", "(?:)", "empty"],
    ["no assertion that is optional, or repeated", "1(?:\\b)*\\B+2", "concat([31]{1,1}, assert 32, [32]{1,1})"],
  ])("%s", (_, pattern, shown) => {
    expect(show(parse(pattern))).toBe(shown);
  });

  test("the same trees deep down, without recursion", () => {
    expect(parse(`x${"a{0,1000}b?".repeat(10)}y`).size).toBe(10_012);
    expect(parse(`x(?:${"ab?".repeat(37)}){0,1000}y`).size).toBe(74_002);
  });
});

test("whatever re2js takes is valid, and nothing else", () => {
  const bits = [
    "a",
    "b",
    "(",
    ")",
    "(?:",
    "(?i)",
    "(?P<x>",
    "[",
    "]",
    "^",
    "-",
    "\\",
    "d",
    "{",
    "}",
    "1",
    "2",
    ",",
    "*",
    "+",
    "?",
    "|",
    "$",
    "Q",
    "E",
    "p",
    "N",
    ":",
    ".",
    "0",
    "é",
    "😀",
    "\uD83D",
  ];
  const anything = fc.array(fc.constantFrom(...bits), { maxLength: 14 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(anything, (pattern) => {
      let valid = true;
      try {
        parse(pattern);
      } catch (error) {
        if (!isRegexError(error)) throw error;
        valid = false;
      }
      expect(valid).toBe(oracle(pattern) !== undefined);
    }),
    { numRuns: 2_000 },
  );
});
