import { describe, expect, test } from "@jest/globals";
import { parseSearch } from "./parse-search.ts";

/** The texts of an incomplete query; it may ask for no regular expression. */
function texts(q: string): string[] {
  const tree = parseSearch(q, () => {
    throw new Error("an incomplete query has no regular expressions");
  });
  const nodes = tree?.kind === "and" ? tree.nodes : tree === undefined ? [] : [tree];
  return nodes.map((node) => (node.kind === "text" && node.field === "all" ? node.text : node.kind));
}

describe("an incomplete query is read as literal texts", () => {
  test.each([
    ["an unfinished phrase", '"A b', ['"a', "b"]],
    ["an unfinished regular expression", "re:/A b", ["re:/a", "b"]],
    ["an empty regular expression", "a re:// b", ["a", "re://", "b"]],
    ["a field without a value", "a tag:", ["a", "tag:"]],
    ["a field before white space", "tag: x", ["tag:", "x"]],
    ["a field before a parenthesis", "tag:(a OR b)", ["tag:(a", "or", "b)"]],
    ["a leading AND", "AND a", ["and", "a"]],
    ["a leading OR", "OR a", ["or", "a"]],
    ["a dangling AND", "a AND", ["a", "and"]],
    ["a dangling OR", "a OR", ["a", "or"]],
    ["a dangling NOT", "a NOT", ["a", "not"]],
    ["a NOT alone", "NOT", ["not"]],
    ["AND after AND", "a AND AND b", ["a", "and", "and", "b"]],
    ["OR after AND", "a AND OR b", ["a", "and", "or", "b"]],
    ["AND after OR", "a OR AND b", ["a", "or", "and", "b"]],
    ["AND after NOT", "NOT AND a", ["not", "and", "a"]],
    ["AND at the start of a group", "(AND a)", ["(and", "a)"]],
    ["OR at the end of a group", "(a OR)", ["(a", "or)"]],
    ["NOT at the end of a group", "(a NOT)", ["(a", "not)"]],
    ["empty parentheses", "a ()", ["a", "()"]],
    ["excluded empty parentheses", "-()", ["-()"]],
    ["an open parenthesis too many", "((a)", ["((a)"]],
    ["a closing parenthesis too many", "(a))", ["(a))"]],
    ["parentheses the wrong way round", "a)(b", ["a)(b"]],
    ["a closing parenthesis first", ")a(", [")a("]],
    ["an id under 4 bytes", "id:5b0 A", ["id:5b0", "a"]],
    ["an id under 4 bytes in quotes", 'id:"5b0"', ['id:"5b0"']],
    ["an empty id in quotes", 'id:""', ['id:""']],
    ["an excluded id under 4 bytes", "-id:abc", ["-id:abc"]],
    ["white space of every kind between pieces", "(\u{85}a\u{3000}\tb", ["(", "a", "b"]],
    ["white space around it", "  (a \n", ["(a"]],
  ])("%s", (_what, q, expected) => {
    expect(texts(q)).toEqual(expected);
  });

  test.each([
    ["an unknown status", "status:bad ("],
    ["a fault before the gap", 'name:"" AND'],
    ["a fault after the gap", '() name:""'],
    ["a fault after an unknown end", 'status:bad "x'],
    ["an invalid regular expression", "re:/(/ OR"],
    ["a regular expression for an id", "id:re:/abcd/ id:a"],
    ["a regular expression that is too long", `re:/${"a".repeat(129)}/ (`],
    ["five regular expressions", `${"re:/a/ ".repeat(5)} AND`],
    ["nine levels", `${"(".repeat(9)}a${")".repeat(8)}`],
    ["sixty-five nodes", `${"NOT a ".repeat(33)} AND`],
  ])("even when it is invalid as well: %s", (_what, q) => {
    expect(texts(q)).toEqual(q.trim().toLowerCase().split(/\s+/));
  });

  test("however many pieces it has", () => {
    expect(texts(`${"a ".repeat(255)}(`)).toHaveLength(256);
  });
});
