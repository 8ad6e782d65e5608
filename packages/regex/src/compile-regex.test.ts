import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { RE2JS, RE2JSException } from "re2js";

import { checkRegex, compileRegex, isRegexError, type RegexFault } from "./compile-regex.ts";
import { anyPattern, anyText, longText, oracle, widePattern } from "./patterns.fixture.ts";

function faultOf(pattern: string): RegexFault | undefined {
  try {
    compileRegex(pattern);
    return undefined;
  } catch (error) {
    if (isRegexError(error)) return error.fault;
    throw error;
  }
}

describe("the matches of a pattern", () => {
  test.each<[rule: string, pattern: string, found: string[], missed: string[]]>([
    ["a literal anywhere in the text", "nan", ["loss is nan", "nan", "xnany"], ["na", "n an", ""]],
    ["ASCII letters in any case", "CudA", ["cuda", "CUDA"], ["cud"]],
    ["k and s as the Kelvin sign and the long s too", "ks", ["KS", "\u212As", "k\u017F", "\u212A\u017F"], ["k"]],
    ["the Kelvin sign and the long s as k and s too", "\u212A\u017F", ["ks", "KS"], ["k"]],
    ["letters beyond ASCII in any simple case", "é ΣΑΣ", ["É σας", "é ςαΣ"], ["e σας"]],
    ["no full case folding", "straße", ["STRAßE", "straẞe"], ["STRASSE"]],
    ["case as written after (?-i)", "(?-i)Ab(?i)c", ["AbC", "Abc"], ["abc", "AB"]],
    ["case as written inside (?-i:…)", "(?-i:A)b", ["Ab", "AB"], ["ab"]],
    ["a dot as anything but a newline", "a.b", ["a-b", "a\rb", "a\u2028b", "a😀b"], ["a\nb", "ab", "a--b"]],
    ["a dot as anything after (?s)", "(?s)a.b", ["a\nb"], ["ab"]],
    ["^ and $ as the ends of the text", "^ab$", ["ab", "AB"], ["ab\n", "\nab", "xab", "abx"]],
    ["^ and $ as the ends of lines after (?m)", "(?m)^ab$", ["ab", "x\nab\ny"], ["xab", "a b"]],
    ["no end of line before a carriage return", "(?m)ab$", ["ab\n"], ["ab\r\n"]],
    ["\\A and \\z as the ends of the text even after (?m)", "(?m)\\Aab\\z", ["ab"], ["ab\n", "x\nab"]],
    ["greedy and lazy alike, and (?U)", "(?U)ab+?c*d??e", ["abbce", "abe"], ["ae"]],
    [
      "\\b between ASCII word characters and others",
      "\\bé?ab\\b",
      ["ab", "-ab.", "éab", "-éab-"],
      ["abc", "_ab", "1ab"],
    ],
    ["\\B elsewhere", "\\Bab", ["xab", "1ab"], ["ab", "-ab"]],
    ["digits, words and spaces of ASCII only", "\\d\\w\\s", ["1_ ", "0z\t"], ["٣_ ", "1é ", "1_\u00A0", "1_\v"]],
    ["what is none of these", "\\D\\W\\S", ["é-é", "٣é1"], ["1-é", "é_é", "é- "]],
    ["classes with ranges, negated too", "[a-cx][^a-c]", ["ad", "XD", "c\n"], ["da", "ab", "AB"]],
    ["a bracket first and a hyphen last as themselves", "[]a-][^]a-]", ["]b", "-[", "a1"], ["b]", "--"]],
    ["POSIX classes", "[[:digit:]][[:^alpha:]]", ["1-", "22"], ["1a", "a1"]],
    ["Unicode classes", "^\\pN\\p{Greek}\\PL\\p{^Nd}$", ["1α-x", "٣Ω1x"], ["xα-x", "1a-x", "1αxx", "1α-1"]],
    ["a category by its letters in any case", "^\\p{Lu}$", ["A", "a", "É", "é"], ["1", "日"]],
    ["escapes of characters", "\\x41\\x{1F600}\\t\\071\\.", ["A😀\t9."], ["A😀\t9x"]],
    ["\\Q…\\E as it stands", "\\Qa.b*\\E+c", ["a.b*c", "a.b**C"], ["axb*c", "a.bc"]],
    ["\\Q without an end to the end", "\\Qa|b", ["a|b"], ["a", "b"]],
    ["groups with names, with and without P", "(?P<x>a)(?<y>b)(?:c)", ["abc"], ["ab"]],
    ["alternatives, one of them empty", "x(a||b)y", ["xy", "xay", "xby"], ["xaby"]],
    ["counted repetitions", "^(?:ab){2,3}$", ["abab", "ababab"], ["ab", "abababab"]],
    ["a repetition without an upper bound", "^a{3,}$", ["aaa", "aaaaaaa"], ["aa"]],
    ["braces that are not a repetition as themselves", "a{,2}b{x}{", ["a{,2}b{x}{"], ["aab"]],
    ["a repetition of up to 1,000", "^a{1000}$", ["a".repeat(1000)], ["a".repeat(999), "a".repeat(1001)]],
    ["characters beyond 16 bits as one", "^.[😀-😂]$", ["a😁", "😀😂"], ["😁", "a😃", "aa😁"]],
    ["a lone surrogate as a character", "^a.b$", ["a\uD83Db", "a\uDE00b"], ["a\uD83D\uDE00\uDE00b", "a\uDE00\uD83Db"]],
    ["a pair only as a whole", "^[^a]\\x{1F600}$", ["b😀", "\uD83D😀"], ["\uD83D\uDE00", "\uDE00\uD83D"]],
    ["no text at all, if its class has no member", "a[^\\x00-\\x{10FFFF}]", [], ["a", "ab", ""]],
    ["assertions where they contradict each other", "a\\b\\Bb|^x^y", [], ["ab", "a b", "xy", "x"]],
  ])("is %s: %s", (_, pattern, found, missed) => {
    const { test: matches } = compileRegex(pattern);
    expect(found.filter((text) => !matches(text))).toEqual([]);
    expect(missed.filter((text) => matches(text))).toEqual([]);
  });
});

describe("a refused pattern", () => {
  test.each([
    ["look-ahead", "a(?=b)"],
    ["negative look-ahead", "a(?!b)"],
    ["look-behind", "(?<=a)b"],
    ["negative look-behind", "(?<!a)b"],
    ["back-references", "(a)\\1"],
    ["back-references by name", "(?P<x>a)(?P=x)"],
    ["atomic groups", "(?>a)"],
    ["possessive repetitions", "a++"],
    ["two repetitions of one thing", "a**"],
    ["a repetition of nothing", "*a"],
    ["a repetition of a bar", "a|*"],
    ["a group that is not closed", "(a"],
    ["a group that is not opened", "a)"],
    ["a class that is not closed", "[a"],
    ["a range backwards", "[b-a]"],
    ["an unknown class", "\\p{Nothing}"],
    ["an unknown POSIX class", "[[:nothing:]]"],
    ["an escape of another letter", "\\y"],
    ["single bytes", "\\C"],
    ["a backslash at the end", "a\\"],
    ["an unknown flag", "(?x)a"],
    ["a name twice", "(?P<a>x)(?P<a>y)"],
    ["a repetition of more than 1,000", "a{1001}"],
    ["a repetition from more to fewer", "a{2,1}"],
    ["nested repetitions of more than 1,000", "(?:a{100}){11}"],
    ["a character beyond Unicode", "\\x{110000}"],
  ])("is not valid with %s: %s", (_, pattern) => {
    expect([faultOf(pattern), checkRegex(pattern)]).toEqual(["invalid", "invalid"]);
  });

  test.each(["", "a*", "(?:)", "a|", "^$", "$", "(?m)^", "\\B", "(?:^|x)*", "x{0}", "(?:a|\\z)", "a{0,1000}b?"])(
    "matches the empty text: %j",
    (pattern) => {
      expect([faultOf(pattern), checkRegex(pattern)]).toEqual(["matches_empty", "matches_empty"]);
    },
  );

  test("does not show in the error", () => {
    expect(() => compileRegex("secret(")).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining("secret") }),
    );
  });
});

describe("a large pattern is taken", () => {
  test.each([
    "[ab]{1000}",
    "[ab]*a[ab]{1000}c",
    "\\pL{100}",
    "\\pL{1000}x",
    "(?:ab){1000}",
    "(?:[ab]c?){500}z",
    "(?:\\w+ ){300}",
    "error (?:\\w+ ){1,200}failed",
    "\\berror\\W+(?:\\w+\\W+){0,100}?oom\\b",
    '"(?:[^"\\\\]|\\\\.){200,}"',
    "error.{0,1000}cuda.{0,1000}retry.{0,1000}oom",
    "[a-z0-9._%+-]{1,64}@[a-z0-9.-]{1,255}\\.[a-z]{2,}",
    "[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}",
    ".{1000}".repeat(18),
    "(?:".repeat(40) + "ab" + "){2}".repeat(9) + ")+".repeat(31),
    "[ab]*a(?:[ab]c?){500}z",
    "(?:abcdefgh){600}",
    `a${".{99}\\w{99}".repeat(9)}\\n`,
    "x(?:a?b?c?d?e?f?g?h?i?j?k?){90}y",
    `x${"a{0,1000}b?".repeat(10)}y`,
    `x(?:${"ab?".repeat(37)}){0,1000}y`,
  ])("%s", (pattern) => expect(checkRegex(pattern)).toBe("ok"));
});

describe("a long text", () => {
  test("is read to its end", () => {
    const { test: matches } = compileRegex("a😀b");
    for (let before = 8_180; before < 8_200; before++) {
      expect([before, matches(`${"x".repeat(before)}a😀b`)]).toEqual([before, true]);
      expect([before, matches(`${"x".repeat(before)}a\uD83Db`)]).toEqual([before, false]);
    }
  });

  test("keeps assertions far from its begin", () => {
    const { test: matches } = compileRegex("\\bfoo\\b");
    for (let before = 8_185; before < 8_195; before++) {
      expect([before, matches(`${"x".repeat(before)} foo`)]).toEqual([before, true]);
      expect([before, matches(`${"x".repeat(before)}foo`)]).toEqual([before, false]);
    }
  });

  test("keeps counts", () => {
    const { test: matches } = compileRegex("a[^a]{1000}b");
    const count = (length: number) => matches(`${"-".repeat(7_700)}a${"c".repeat(length)}b`);
    expect([999, 1_000, 1_001].map(count)).toEqual([false, true, false]);
  });
});

describe("another engine of RE2's syntax", () => {
  /** Compares the results for a pattern and for texts. */
  function expectAgreement(pattern: string, texts: readonly string[]): void {
    const expected = oracle(pattern);
    const fault = expected === undefined ? "invalid" : expected.test("") ? "matches_empty" : "ok";
    expect(checkRegex(pattern)).toBe(fault);
    if (fault !== "ok") return;
    const { test: matches } = compileRegex(pattern);
    expect(texts.map((text) => matches(text))).toEqual(texts.map((text) => expected?.test(text)));
  }

  test("finds any pattern in the same texts", () => {
    const texts = fc.array(anyText, { minLength: 8, maxLength: 8 });
    fc.assert(fc.property(anyPattern, texts, expectAgreement), { numRuns: 300 });
  });

  test("finds patterns of many states in the same long texts", () => {
    const texts = fc.array(longText, { minLength: 4, maxLength: 4 });
    fc.assert(fc.property(widePattern, texts, expectAgreement), { numRuns: 60 });
  });
});

test("exactly the expressions that re2js accepts are valid", () => {
  const bits = Array.from("ab()[]^-\\d{}12,*+?|$QEpN:.0é😀").concat("(?:", "(?i)", "(?P<x>", "\uD83D");
  const anything = fc.array(fc.constantFrom(...bits), { maxLength: 14 }).map((parts) => parts.join(""));
  const isTaken = (pattern: string): boolean => {
    try {
      return RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE) instanceof RE2JS;
    } catch (error) {
      if (error instanceof RE2JSException) return false;
      throw error;
    }
  };
  fc.assert(
    fc.property(anything, (pattern) => {
      expect(faultOf(pattern) !== "invalid").toBe(isTaken(pattern));
    }),
    { numRuns: 2_000 },
  );
});
