import fc from "fast-check";
import { RE2JS, RE2JSSyntaxException } from "re2js";

/** The same pattern in the library whose syntax and meaning we follow, with its own matcher; nothing if it is not valid. */
export function oracle(pattern: string): { test(text: string): boolean } | undefined {
  try {
    return RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE);
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
