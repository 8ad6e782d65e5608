import { RE2JS, RE2JSSyntaxException } from "@bufbuild/re2";
import fc from "fast-check";

/** Returns the same pattern in another engine of RE2's syntax; nothing if it is not valid there. */
export function oracle(pattern: string): { test(text: string): boolean } | undefined {
  try {
    return new RE2JS(`(?i)${pattern}`);
  } catch (error) {
    if (error instanceof RE2JSSyntaxException) return undefined;
    throw error;
  }
}

const characters = ["a", "b", "c", "k", "s", "é", "ſ", "K", "😀", "_", "-", " ", "\\n", "1"];
const classes = [
  "[ab]",
  "[^a]",
  ".",
  "\\w",
  "\\W",
  "\\d",
  "\\s",
  "\\pL",
  "\\PL",
  "[a-cé]",
  "(?s:.)",
  "(?-i:[A-K])",
  "[^\\n]",
];
const assertions = ["^", "$", "\\b", "\\B", "\\A", "\\z", "(?m:^)", "(?m:$)"];
const runs = ["{26}", "{1,26}", "{25,}", "{0,30}", "{30,40}", "{24,24}"];
const repeats = ["*", "+", "?", "{2}", "{2,3}", "{1,}", "{7}", "{0,9}", "{3,}", "*?", "+?", "??"];

/** Patterns over few characters, of every kind of syntax; some repeat enough to be counted or to need many words. */
export const anyPattern: fc.Arbitrary<string> = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { maxDepth: 4, depthSize: "medium" },
    { weight: 4, arbitrary: fc.constantFrom(...characters) },
    { weight: 2, arbitrary: fc.constantFrom(...classes) },
    { weight: 1, arbitrary: fc.constantFrom(...assertions) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom("[ab]", "a", ".", "\\w"), fc.constantFrom(...runs))
        .map((parts) => parts.join("")),
    },
    { weight: 6, arbitrary: fc.array(tie("pattern"), { minLength: 2, maxLength: 4 }).map((parts) => parts.join("")) },
    { weight: 2, arbitrary: fc.tuple(tie("pattern"), tie("pattern")).map(([one, other]) => `(?:${one}|${other})`) },
    {
      weight: 3,
      arbitrary: fc.tuple(tie("pattern"), fc.constantFrom(...repeats)).map(([body, count]) => `(${body})${count}`),
    },
    { weight: 1, arbitrary: tie("pattern").map((body) => `(?:${body}){17}`) },
  ),
})).pattern;

const pieces = [
  "a",
  "b",
  "c",
  "k",
  "K",
  "\u212A",
  "ſ",
  "s",
  "S",
  "é",
  "É",
  "😀",
  "\uD83D",
  "\uDE00",
  " ",
  "\n",
  "_",
  "-",
  "1",
];

/** Texts over few characters, so that they often match: some of two letters, some of everything that is special. */
export const anyText: fc.Arbitrary<string> = fc
  .oneof(
    fc.array(fc.constantFrom("a", "b"), { maxLength: 120 }),
    fc.array(fc.constantFrom("a", "b", "c", " "), { maxLength: 60 }),
    fc.array(fc.constantFrom(...pieces), { maxLength: 30 }),
  )
  .map((parts) => parts.join(""));

/** Patterns in which two parts repeat, with gaps: they need many states. */
export const widePattern: fc.Arbitrary<string> = fc
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

/** Texts of up to 300 pieces, over few characters. */
export const longText: fc.Arbitrary<string> = fc
  .oneof(
    fc.array(fc.constantFrom("a", "b"), { maxLength: 300 }),
    fc.array(fc.constantFrom("a", "b", "ab", "ba", "c", "1", " "), { maxLength: 300 }),
  )
  .map((parts) => parts.join(""));
