import { describe, expect, test } from "@jest/globals";
import { parseSearch, type RegexCheck } from "./parse-search.rules.ts";

const engine: RegexCheck = (pattern) =>
  pattern.includes("(?=") ? "invalid" : pattern === "x*" ? "matches_empty" : "ok";

/** Returns the fault of a query, as the caller reads it; undefined when there is none. */
function fault(q: string, checkRegex: RegexCheck = engine): unknown {
  try {
    parseSearch(q, checkRegex);
    return undefined;
  } catch (error) {
    return error;
  }
}

function expectFault(q: string, what: string, position: number): void {
  expect(fault(q)).toMatchObject({
    name: "AppError",
    reason: "run_search_invalid",
    field: "q",
    position,
    message: `Invalid run search: ${what} (column ${position}).`,
  });
}

const repeat = (piece: string, times: number) => Array.from({ length: times }, () => piece).join(" ");
const nested = (levels: number, inner = "a") => `${"(".repeat(levels)}${inner}${")".repeat(levels)}`;

describe("limits of the whole query", () => {
  test.each([
    ["512 bytes", "a".repeat(512)],
    ["512 bytes, white space around them not counted", `${" ".repeat(600)}${"a".repeat(512)}\u{3000}`],
    ["512 bytes of long characters", "\u{1F600}".repeat(128)],
    ["512 bytes that are incomplete", `(${"a".repeat(511)}`],
    ["32 terms", repeat("a", 32)],
    ["32 terms of every form", `${repeat('tag:x "a b" OR -status:failed', 10)} name:re:/x/ re:/y/`],
    ["64 nodes: 32 terms, 31 NOTs, one list", `${repeat("NOT a", 31)} a`],
    ["64 nodes: 32 terms, 16 lists in a list, 15 exclusions", `${repeat("-(a OR b)", 15)} (a OR b)`],
    ["8 pairs of parentheses", nested(8)],
    ["8 NOTs", `${repeat("NOT", 8)} a`],
    ["4 NOTs and 4 pairs of parentheses", "NOT (NOT (NOT (NOT (a))))"],
    ["4 exclusions of a group", "-(-(-(-(a))))"],
    ["7 pairs of parentheses and an exclusion", nested(7, "-tag:a")],
    ["many groups of 8 levels side by side", repeat(nested(8), 10)],
    ["more NOTs than 8, not nested", repeat("NOT a", 20)],
  ])("allow %s", (_what, q) => {
    expect(fault(q)).toBeUndefined();
  });

  test.each([
    ["513 bytes", "a".repeat(513), "longer than 512 bytes"],
    ["513 bytes in fewer characters", `${"\u{1F600}".repeat(128)}a`, "longer than 512 bytes"],
    ["513 bytes that are incomplete", `(${"a".repeat(512)}`, "longer than 512 bytes"],
    ["513 bytes with another fault", `status:bad ${"a".repeat(502)}`, "longer than 512 bytes"],
    ["a megabyte", `${"\t".repeat(1_000_000)}${"(".repeat(1_000_000)}`, "longer than 512 bytes"],
    ["33 terms", repeat("a", 33), "more than 32 terms"],
    ["33 alternatives", `a OR ${repeat("a OR a", 16)}`, "more than 32 terms"],
    ["65 nodes: 32 terms, 32 NOTs, one list", repeat("NOT a", 32), "more than 64 terms and operators"],
    ["65 nodes: 32 terms, 17 lists, 16 exclusions", repeat("-(a OR b)", 16), "more than 64 terms and operators"],
    ["9 pairs of parentheses", nested(9), "nested deeper than 8 levels"],
    ["9 NOTs", `${repeat("NOT", 9)} a`, "nested deeper than 8 levels"],
    ["127 NOTs", `${repeat("NOT", 127)} a`, "nested deeper than 8 levels"],
    ["8 pairs of parentheses and an exclusion", nested(8, "-tag:a"), "nested deeper than 8 levels"],
    ["a NOT before 8 pairs of parentheses", `a OR NOT ${nested(8)}`, "nested deeper than 8 levels"],
    ["9 levels in the middle", `a ${nested(9)} b`, "nested deeper than 8 levels"],
    ["255 pairs of parentheses", nested(255), "nested deeper than 8 levels"],
  ])("refuse %s at column 1", (_what, q, what) => {
    expectFault(q, what, 1);
  });
});

describe("faults of a term", () => {
  test.each([
    ["an empty phrase", '""', "empty phrase", 1],
    ["a blank phrase", 'a " \u{3000}"', "empty phrase", 3],
    ["an empty phrase of a field, at the field", 'a name:""', "empty phrase", 3],
    ["an empty phrase of status", 'status:""', "empty phrase", 1],
    ["a blank phrase of id", 'id:"    "', "empty phrase", 1],
    ["an empty excluded phrase, after the minus", '-tag:""', "empty phrase", 2],
    ["an unknown status", "a status:bad", "unknown status", 3],
    ["a status in upper case", "status:Running", "unknown status", 1],
    ["a status with a space", 'status:"running "', "unknown status", 1],
    ["an unknown status in quotes", 'status:"so so"', "unknown status", 1],
    ["an unknown status that PostgreSQL cannot hold", "status:\0", "unknown status", 1],
    ["an unknown excluded status, after the minus", "-status:bad", "unknown status", 2],
    ["the start of a status", "status:run", "unknown status", 1],
    ["a regular expression for an id", "a id:re:/abcd/", "id takes no regular expression", 3],
    ["a short regular expression for an id", "id:re:/a/", "id takes no regular expression", 1],
    ["an invalid regular expression", "a re:/(?=b)/", "invalid regular expression", 3],
    ["an invalid regular expression of a field, at the field", "(tag:re:/(?=b)/)", "invalid regular expression", 2],
    ["an invalid excluded regular expression, after the minus", "-re:/(?=b)/", "invalid regular expression", 2],
    ["a regular expression that empty text matches", "a re:/x*/", "regular expression matches empty text", 3],
    ["a regular expression of 129 bytes", `re:/${"a".repeat(129)}/`, "regular expression longer than 128 bytes", 1],
    ["129 bytes in fewer characters", `a re:/${"é".repeat(64)}a/`, "regular expression longer than 128 bytes", 3],
    ["a fifth regular expression", `${repeat("re:/a/", 4)} b re:/a/ re:/a/`, "more than 4 regular expressions", 31],
    ["a fifth, of a field", `${repeat("re:/a/", 4)} tag:re:/a/`, "more than 4 regular expressions", 29],
  ])("%s", (_what, q, what, position) => {
    expectFault(q, what, position);
  });

  test.each([
    ["4 regular expressions", repeat("re:/a/", 4)],
    ["a regular expression of 128 bytes", `re:/${"a".repeat(128)}/`],
    ["128 bytes of long characters", `re:/${"é".repeat(64)}/`],
    ["128 bytes after reading the escaped slashes", `re:/${String.raw`\/`.repeat(128)}/`],
    ["5 terms that look like regular expressions", repeat('"re:/a/"', 5)],
  ])("%s are none", (_what, q) => {
    expect(fault(q)).toBeUndefined();
  });

  test("columns count code points of the trimmed query", () => {
    expectFault('\u{3000}\n\u{1F600}\u{10FFFF} "é\u{1F600}" status:bad ', "unknown status", 9);
    expectFault('\u{1F600} name:""', "empty phrase", 3);
    expectFault('"\u{1F600}\u{1F600}"re:/x*/', "regular expression matches empty text", 5);
  });

  test("the leftmost counts, after those of the whole query", () => {
    expectFault('a status:bad name:"" re:/(?=a)/', "unknown status", 3);
    expectFault('re:/(?=a)/ name:""', "invalid regular expression", 1);
    expectFault(`name:"" ${repeat("re:/a/", 5)}`, "empty phrase", 1);
    expectFault(`status:bad ${nested(9)}`, "nested deeper than 8 levels", 1);
    expectFault(`status:bad ${repeat("a", 32)}`, "more than 32 terms", 1);
  });
});

describe("the engine of regular expressions", () => {
  /** Returns the patterns that the check was called with. */
  function asked(q: string): string[] {
    const patterns: string[] = [];
    fault(q, (pattern) => {
      patterns.push(pattern);
      return engine(pattern);
    });
    return patterns;
  }

  test.each([
    ["once for each, in order", "re:/a/ (name:re:/b/ OR -re:/a/)", ["a", "b", "a"]],
    ["not for one that is too long", `re:/${"a".repeat(129)}/`, []],
    ["not for an id", "id:re:/abcd/", []],
    ["not for one with a NUL", "re:/\0/", []],
    ["not after the first fault", "re:/a/ status:bad re:/b/", ["a"]],
    ["not for a fifth", repeat("re:/a/", 5), ["a", "a", "a", "a"]],
    ["not when the query as a whole is at fault", `re:/a/ ${nested(9)}`, []],
    ["not when the query is incomplete", "re:/a/ AND", []],
  ])("is asked %s", (_what, q, patterns) => {
    expect(asked(q)).toEqual(patterns);
  });
});
