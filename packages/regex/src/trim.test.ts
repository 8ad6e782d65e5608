import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";

import { createMatcher, matcherLimits } from "./matcher.ts";
import { parse } from "./parse.ts";
import { anyPattern, anyText, oracle } from "./patterns.fixture.ts";
import { isRegexError } from "./regex-error.ts";
import { trim } from "./trim.ts";

const roomy = { ...matcherLimits, cost: Infinity, completion: 0 };

describe("a search needs no more of a pattern than", () => {
  test.each([
    [".*foo.*", "foo"],
    ["a+b+", "ab"],
    ["[ab]*a[ab]{20}c?", "a[ab]{20}"],
    ["a{3,9}b{2,}", "a{3}b{2}"],
    ["(?:ab)+c(?:de)+", "abcde"],
    ["(?:a*b|c+d)e", "(?:b|cd)e"],
    ["x?(?:y?z)+", "z"],
    ["a?b?c", "c"],
    ["(?:ab?c){2,50}d", "ab?cab?cd"],
    ["(?:ab?c){1,50}d", "ab?cd"],
    ["d(?:ab?c){2,}", "dab?cab?c"],
    ["(?:ab?c){3,}d", "ab?cab?cab?cd"],
    ["x(?:ab?c){1,5}d", "x(?:ab?c){1,5}d"],
    ["\\b\\w+\\b", "\\b\\w+\\b"],
    ["^a*b", "^a*b"],
    ["a+", "a"],
  ])("of %s: %s", (pattern, rest) => {
    const sizes = (tree: ReturnType<typeof parse>) =>
      JSON.stringify(tree, (key, value: unknown) => (key === "id" ? undefined : value));
    expect(sizes(trim(parse(pattern)))).toBe(sizes(parse(rest)));
  });

  test("still finds it", () => {
    fc.assert(
      fc.property(anyPattern, anyText, (pattern, text) => {
        const expected = oracle(pattern);
        fc.pre(expected !== undefined && !expected.test(""));
        const tree = trim(parse(pattern));
        expect(tree.nullable).toBe(false);
        try {
          expect(createMatcher(tree, roomy).test(text)).toBe(expected?.test(text));
        } catch (error) {
          if (!isRegexError(error)) throw error;
        }
      }),
      { numRuns: 200 },
    );
  });
});
