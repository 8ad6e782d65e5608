import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";

import { createMatcher, matcherLimits, type Matcher, type MatcherLimits } from "./matcher.ts";
import { parse } from "./parse.ts";
import { anyPattern, anyText, oracle } from "./patterns.fixture.ts";
import { isRegexError, type RegexFault } from "./regex-error.ts";
import { trim } from "./trim.ts";

/** The usual limits, but for less time on patterns that are refused in the end. */
const usual: MatcherLimits = { ...matcherLimits, completion: 200_000 };

const ways: readonly [name: string, limits: MatcherLimits][] = [
  ["as it comes", usual],
  ["by bits alone, however many", { ...usual, credit: 0, cost: Infinity }],
  ["by states that are dropped all the time", { ...usual, stateBytes: 0, credit: Infinity }],
  ["by states until they are too dear, then by bits", { ...usual, credit: 500 }],
  ["by states that are all made beforehand", { ...usual, cost: 0 }],
];

function matcherOf(pattern: string, limits: MatcherLimits): Matcher | RegexFault {
  try {
    return createMatcher(trim(parse(pattern)), limits);
  } catch (error) {
    if (isRegexError(error)) return error.fault;
    throw error;
  }
}

/** Two parts that repeat, with gaps: the shapes that need every kind of follower in sets of one, four and eight words. */
const widePattern = fc
  .record({
    head: fc.constantFrom("a", "a[ab]*b", "", "(?:a|bb|abb)+", "\\ba"),
    body: fc.constantFrom(
      "[ab]",
      ".\\w",
      "[ab]c?",
      ".\\w?\\d?",
      "\\w+ ",
      "a?b?c?.",
      "ab|ba|a",
      "[ab]c*|b",
      "a|b.|.c.",
      "a\\b.|.",
    ),
    least: fc.nat(20),
    more: fc.nat(60),
    tail: fc.constantFrom("c", "a.{40}", "$", "[^ab]{2}", "(?:b|c)"),
  })
  .map(({ head, body, least, more, tail }) => `${head}(?:${body}){${least},${least + more}}${tail}`);

const longText = fc
  .oneof(
    fc.array(fc.constantFrom("a", "b"), { maxLength: 300 }),
    fc.array(fc.constantFrom("a", "b", "ab", "ba", "c", "1", " "), { maxLength: 300 }),
  )
  .map((parts) => parts.join(""));

/** What every way says of the texts, or why it refuses the pattern, next to what re2js says of them. */
function expectAgreement(pattern: string, texts: readonly string[]): void {
  const expected = oracle(pattern);
  const fault = expected === undefined ? "invalid" : expected.test("") ? "matches_empty" : undefined;
  const answers = texts.map((text) => expected?.test(text));
  for (const [way, limits] of ways) {
    const matcher = matcherOf(pattern, limits);
    if (matcher === "too_large") continue;
    if (typeof matcher === "string" || fault !== undefined) expect([way, matcher]).toEqual([way, fault]);
    else expect([way, texts.map((text) => matcher.test(text))]).toEqual([way, answers]);
  }
}

describe("a matcher, as it comes and forced into each of its ways,", () => {
  test("finds any pattern in the texts in which re2js finds it", () => {
    const texts = fc.array(anyText, { minLength: 8, maxLength: 8 });
    fc.assert(fc.property(anyPattern, texts, expectAgreement), { numRuns: 300 });
  });

  test("finds patterns of many positions in long texts in which re2js finds them", () => {
    const texts = fc.array(longText, { minLength: 4, maxLength: 4 });
    fc.assert(fc.property(widePattern, texts, expectAgreement), { numRuns: 60 });
  });
});
