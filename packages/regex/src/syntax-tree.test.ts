import { describe, expect, test } from "@jest/globals";
import { RE2JS, RE2JSException, RE2Set } from "re2js";

import { checkRegex } from "./compile-regex.ts";
import { casesOf, foldSyntax, kindOf, parseSyntax } from "./syntax-tree.ts";

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
    expect(checkRegex("(")).toBe("invalid");
  });
});

describe("a tree", () => {
  test("is combined from its leaves to its root", () => {
    const show = foldSyntax<string>(parseSyntax("ab|(?:c*|d+?)e?\\b"), (node, children) =>
      children.length === 0 ? kindOf(node) : `${kindOf(node)}(${children.join(" ")})`,
    );
    expect(show).toBe("ALTERNATE(LITERAL CONCAT(ALTERNATE(STAR(LITERAL) PLUS(LITERAL)) QUEST(LITERAL) WORD_BOUNDARY))");
  });

  test("is combined once per node, without recursion, however often it repeats", () => {
    let count = 0;
    foldSyntax(parseSyntax(`x(?:${"ab?".repeat(37)}){0,1000}y`), () => count++);
    expect(count).toBeLessThan(4_000);
  });
});

describe("the cases of a character", () => {
  test.each([
    ["several", "é", [0xc9, 0xc9, 0xe9, 0xe9]],
    ["one where it has no other", "日", [0x65_e5, 0x65_e5]],
    ["one after (?-i)", "(?-i)é", [0xe9, 0xe9]],
    ["the last character there is", "\\x{10FFFF}", [0x10_ff_ff, 0x10_ff_ff]],
  ])("are %s: %s", (_, pattern, ranges) => {
    const node = parseSyntax(pattern);
    expect(Array.from(casesOf(node.runes[0]!, node))).toEqual(ranges);
  });
});
