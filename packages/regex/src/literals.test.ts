import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";

import { compileRegex, isRegexError } from "./compile-regex.ts";
import type { Literals } from "./literals.ts";
import { anyPattern, anyText } from "./patterns.fixture.ts";

function show(literals: Literals): string {
  if (literals.kind === "any") return "any";
  if (literals.kind === "literal") return literals.text;
  return `${literals.kind}(${literals.parts.map(show).join(" ")})`;
}

function meets(text: string, literals: Literals): boolean {
  switch (literals.kind) {
    case "any":
      return true;
    case "literal":
      return text.includes(literals.text);
    case "and":
      return literals.parts.every((part) => meets(text, part));
    case "or":
      return literals.parts.some((part) => meets(text, part));
  }
}

function isUseful(literals: Literals): boolean {
  if (literals.kind === "any") return false;
  if (literals.kind === "literal") return Array.from(literals.text).length >= 3 && !/[A-Z]/.test(literals.text);
  return literals.parts.length > 1 && literals.parts.every(isUseful);
}

const lowered = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

describe("a text must contain", () => {
  test.each([
    ["a literal, in lower case", "Foo_Bar", "foo_bar"],
    ["each of those in a row", "foo.*bar", "and(foo bar)"],
    ["one of several", "foo|ba[rz]", "or(foo bar baz)"],
    ["nothing, if a branch has nothing", "foo|ba", "any"],
    ["nothing shorter than three characters", "ab.cd", "any"],
    ["what continues through a group", "foo(?:bar|baz)qux", "or(foobarqux foobazqux)"],
    ["what continues over an optional part", "colou?r", "or(color colour)"],
    ["the edges of what repeats", "x(?:abc)+d", "and(xabc abcd)"],
    ["what is counted", "(?:ab){3}1{4}", "ababab1111"],
    ["as much of a long count as helps", "a{1000}", "a".repeat(64)],
    ["what assertions stand between", "^foo\\b-\\Bbar$", "foo-bar"],
    ["the plain form of k and s", "Kiss", "kiss"],
    ["nothing of letters beyond ASCII with several cases", "naïve test", "ve test"],
    ["characters without cases beyond ASCII", "日本語", "日本語"],
    ["letters beyond ASCII in the case asked for", "(?-i)éÉé", "éÉé"],
    ["no classes of many characters", "abc[0-9]def", "and(abc def)"],
    ["classes of few", "loss=[01]\\.5", "or(loss=0.5 loss=1.5)"],
    ["no NUL, which cannot be stored", "abc\\x00def", "and(abc def)"],
    ["no half of a pair", "abc\\x{D83D}def", "and(abc def)"],
    ["what is common to copies of a group once", "(?:abc.){500}x", "abc"],
    ["no condition that another implies", "foo.*foobar", "foobar"],
    ["quotation marks and backslashes as they are", '"a\\\\b"', '"a\\b"'],
    ["what is required besides the alternatives", "(?:foo|bar).*bazz", "and(or(foo bar) bazz)"],
    ["few enough forms only", "[ab][cd][ef][gh]xyz", "and(or(ace acf ade adf bce bcf bde bdf) or(gxyz hxyz))"],
  ])("%s: %s", (_, pattern, literals) => {
    expect(show(compileRegex(pattern).literals)).toBe(literals);
  });

  const literalPattern = fc
    .array(
      fc.oneof(
        { weight: 4, arbitrary: fc.constantFrom("aab", "ba", "Kab", "bbs", "é", "ab") },
        {
          weight: 1,
          arbitrary: fc.constantFrom(
            ".*",
            "(?:ab|ba)+",
            "[ab]?",
            "a{3}",
            "(?:aba|bb)",
            "(?:abb){2,}",
            "\\b",
            "(?:b|s){2}",
          ),
        },
      ),
      { minLength: 1, maxLength: 5 },
    )
    .map((parts) => parts.join(""));

  const matchingText = fc
    .array(fc.constantFrom("a", "b", "A", "k", "s", "S", "é", "É"), { maxLength: 24 })
    .map((parts) => parts.join(""));

  test.each([
    ["any pattern", anyPattern, anyText],
    ["patterns of many literals", literalPattern, matchingText],
  ])("what %s needs, whenever it matches", (_, patterns, texts) => {
    fc.assert(
      fc.property(patterns, fc.array(texts, { minLength: 10, maxLength: 10 }), (pattern, several) => {
        try {
          const { literals, test: matches } = compileRegex(pattern);
          expect(literals.kind === "any" || isUseful(literals)).toBe(true);
          for (const text of several) {
            if (/[\u212A\u017F]/.test(text) || !matches(text)) continue;
            expect([text, meets(lowered(text), literals)]).toEqual([text, true]);
          }
        } catch (error) {
          if (!isRegexError(error)) throw error;
        }
      }),
      { numRuns: 400 },
    );
  });
});
