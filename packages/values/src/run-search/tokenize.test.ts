import { describe, expect, test } from "@jest/globals";
import { tokenize, type Token } from "./tokenize.ts";

/** Tokens as short texts: operators and parentheses unchanged, terms as `form field value @column`. */
function shown(token: Token): string {
  return token.kind === "term" ? `${token.form} ${token.field} ${token.value} @${token.column}` : token.kind;
}

const tokens = (text: string) => tokenize(text)?.map(shown);

describe("words", () => {
  test.each([
    ["end at white space of any kind", "a b\tc\u{3000}d", ["a @1", "b @3", "c @5", "d @7"]],
    [
      "keep a quote, a slash, a colon, a backslash",
      String.raw`a"b c/d e:f g\h`,
      ['a"b @1', "c/d @5", "e:f @9", String.raw`g\h @13`],
    ],
    ["keep a byte order mark", "\u{FEFF}a", ["\u{FEFF}a @1"]],
    ["may be a known field without its colon", "tag", ["tag @1"]],
    ["keep an unknown prefix", "foo:bar", ["foo:bar @1"]],
    ["keep an unknown prefix and the quote after it", 'foo:"a b"', ['foo:"a @1', 'b" @8']],
    ["keep a field that is not in lower case", "Tag:x STATUS:y", ["Tag:x @1", "STATUS:y @7"]],
    ["keep a field that is not at their start", "xtag:a", ["xtag:a @1"]],
    ["may look like the start of a regular expression", "re:x re:", ["re:x @1", "re: @6"]],
    ["may hold a regular expression that is not at their start", "xre:/a/", ["xre:/a/ @1"]],
    ["that are operators in another case are text", "and Or nOT", ["and @1", "Or @5", "nOT @8"]],
    ["that only begin like operators are text", "ANDY OR: NOT-", ["ANDY @1", "OR: @6", "NOT- @10"]],
  ])("%s", (_what, text, expected) => {
    expect(tokens(text)).toEqual(expected.map((word) => `word all ${word}`));
  });
});

describe("a minus", () => {
  test.each([
    ["before a number is text", "-1", ["word all -1 @1"]],
    ["before a word is text", "-loss", ["word all -loss @1"]],
    ["before a phrase is text, and so is the quote", '-"x y"', ['word all -"x @1', 'word all y" @5']],
    ["before an unknown field is text", "-foo:x", ["word all -foo:x @1"]],
    ["before a field in upper case is text", "-TAG:x", ["word all -TAG:x @1"]],
    ["by itself is text", "- tag:x", ["word all - @1", "word tag x @3"]],
    ["before a closing parenthesis is text", "(-)", ["open", "word all - @2", "close"]],
    ["before another minus is text", "--tag:x", ["word all --tag:x @1"]],
    ["before an operator is text", "-NOT", ["word all -NOT @1"]],
    ["inside a word is text", "a-tag:x", ["word all a-tag:x @1"]],
    ["at the end of a value is text", "tag:-", ["word tag - @1"]],
    ["before a known field excludes", "-tag:x", ["not", "word tag x @2"]],
    ["before all: excludes", "-all:x", ["not", "word all x @2"]],
    ["before a parenthesis excludes", "-(a)", ["not", "open", "word all a @3", "close"]],
    ["before a regular expression excludes", "-re:/a/", ["not", "regex all a @2"]],
    ["before re: without a slash is text", "-re:a", ["word all -re:a @1"]],
    ["directly after a phrase excludes", '"a"-tag:x', ["phrase all a @1", "not", "word tag x @5"]],
  ])("%s", (_what, text, expected) => {
    expect(tokens(text)).toEqual(expected);
  });
});

describe("operators and parentheses", () => {
  test.each([
    ["are exact words", "a AND b OR NOT c", ["word all a @1", "and", "word all b @7", "or", "not", "word all c @16"]],
    [
      "end at a parenthesis",
      "NOT(a)AND(b)",
      ["not", "open", "word all a @5", "close", "and", "open", "word all b @11", "close"],
    ],
    ["end a word", "a(b)c", ["word all a @1", "open", "word all b @3", "close", "word all c @5"]],
    ["end a value", "tag:a(b)", ["word tag a @1", "open", "word all b @7", "close"]],
    ["in quotes are text", '"AND" "(a)"', ["phrase all AND @1", "phrase all (a) @7"]],
    ["after a field are text", "tag:AND name:NOT", ["word tag AND @1", "word name NOT @9"]],
    ["directly after a phrase count", '"a"AND b', ["phrase all a @1", "and", "word all b @8"]],
  ])("%s", (_what, text, expected) => {
    expect(tokens(text)).toEqual(expected);
  });
});

describe("phrases", () => {
  test.each([
    ["keep their spaces and case", '" A  b "', ["phrase all  A  b  @1"]],
    ["read an escaped quote and an escaped backslash", String.raw`"a\"b\\c"`, [String.raw`phrase all a"b\c @1`]],
    ["keep any other backslash", String.raw`"\n\/"`, [String.raw`phrase all \n\/ @1`]],
    ["may end with an escaped backslash", String.raw`"a\\" b`, [String.raw`phrase all a\ @1`, "word all b @7"]],
    ["may be empty", '""', ["phrase all  @1"]],
    ["end at their quote; what follows is a new term", '"a"b"c"', ["phrase all a @1", 'word all b"c" @4']],
    ["may touch each other", '"a""b"', ["phrase all a @1", "phrase all b @4"]],
    ["may follow a field", 'name:"a b"c', ["phrase name a b @1", "word all c @11"]],
    ["hold regular expressions as text", '"re:/a/"', ["phrase all re:/a/ @1"]],
  ])("%s", (_what, text, expected) => {
    expect(tokens(text)).toEqual(expected);
  });
});

describe("regular expressions", () => {
  test.each([
    ["end at a slash", "re:/a b/", ["regex all a b @1"]],
    ["read an escaped slash", String.raw`re:/a\/b/`, ["regex all a/b @1"]],
    ["keep every other escape whole", String.raw`re:/\d\\\"\(/`, [String.raw`regex all \d\\\"\( @1`]],
    ["may end with an escaped backslash", String.raw`re:/\\/ x`, [String.raw`regex all \\ @1`, "word all x @9"]],
    ["hold parentheses and quotes", 're:/(a|")/', ['regex all (a|") @1']],
    ["take no flags: what follows is a word", "re:/a/i", ["regex all a @1", "word all i @7"]],
    ["may follow a field", "tag:re:/^a/ status:re:/run/", ["regex tag ^a @1", "regex status run @13"]],
    ["may be blank", "re:/ /", ["regex all   @1"]],
    ["without the slash are the value of a field", "tag:re:x", ["word tag re:x @1"]],
  ])("%s", (_what, text, expected) => {
    expect(tokens(text)).toEqual(expected);
  });
});

describe("fields", () => {
  test.each(["name", "project", "notes", "config", "metadata", "tag", "status", "id", "all"])("%s is one", (field) => {
    expect(tokens(`${field}:x`)).toEqual([`word ${field} x @1`]);
  });

  test.each([
    ["tags is another word for tag", "tags:x", ["word tag x @1"]],
    ["only the first colon counts", "name:tag:x", ["word name tag:x @1"]],
    ["a value may hold quotes", 'tag:x"y z"', ['word tag x"y @1', 'word all z" @9']],
    ["a value may begin with a minus", "config:-1", ["word config -1 @1"]],
  ])("%s", (_what, text, expected) => {
    expect(tokens(text)).toEqual(expected);
  });
});

describe("columns", () => {
  test("count code points, and a term begins at its field", () => {
    expect(tokens('\u{1F600}\u{301} "\u{1F600}" name:"é" re:/\u{10FFFF}/ tag:re:/x/ z')).toEqual([
      "word all \u{1F600}\u{301} @1",
      "phrase all \u{1F600} @4",
      "phrase name é @8",
      "regex all \u{10FFFF} @17",
      "regex tag x @24",
      "word all z @35",
    ]);
  });
});

describe("incomplete is", () => {
  test.each([
    ["a quote without its partner", 'a "b'],
    ["a phrase whose last quote is escaped", String.raw`"a\"`],
    ["a phrase that ends with a backslash", '"a\\'],
    ["a regular expression without its slash", "re:/a"],
    ["a regular expression whose last slash is escaped", String.raw`re:/a\/`],
    ["a regular expression that ends with a backslash", "re:/a\\"],
    ["an empty regular expression", "re://"],
    ["an empty regular expression of a field", "tag:re://"],
    ["an unfinished phrase of a field", 'tag:"a'],
    ["a field at the end", "a tag:"],
    ["a field before white space", "tag: x"],
    ["a field before an opening parenthesis", "tag:(a)"],
    ["a field before a closing parenthesis", "(tag:)"],
    ["an excluded field without a value", "-tag:"],
  ])("%s", (_what, text) => {
    expect(tokens(text)).toBeUndefined();
  });
});
