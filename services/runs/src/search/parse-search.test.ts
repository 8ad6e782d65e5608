import { describe, expect, test } from "@jest/globals";
import { parseSearch } from "./parse-search.rules.ts";
import { FINDS_NOTHING, type SearchTree, type TextField } from "./tree.rules.ts";

const ok = () => "ok" as const;
const parsed = (q: string) => parseSearch(q, ok);

const text = (value: string, field: TextField = "all"): SearchTree => ({ kind: "text", field, text: value });
const and = (...nodes: SearchTree[]): SearchTree => ({ kind: "and", nodes });
const or = (...nodes: SearchTree[]): SearchTree => ({ kind: "or", nodes });
const not = (node: SearchTree): SearchTree => ({ kind: "not", node });
const tag = (value: string): SearchTree => ({ kind: "tag", tag: value });
const [a, b, c, d] = [text("a"), text("b"), text("c"), text("d")] as const;

describe("a query", () => {
  test.each(["", " ", "\t\n\u{85}\u{3000}"])("that is blank counts as absent: %j", (q) => {
    expect(parsed(q)).toBeUndefined();
  });

  test.each<[what: string, q: string, tree: SearchTree]>([
    ["of one word is that word", "a", a],
    ["does not count the white space around it", "\u{3000} a\n", a],
    ["joins terms by AND", "a b c", and(a, b, c)],
    ["takes a written AND for the same", "a AND b c AND d", and(a, b, c, d)],
    ["joins by OR", "a OR b OR c", or(a, b, c)],
    ["binds AND tighter than OR", "a b OR c AND d", or(and(a, b), and(c, d))],
    ["binds NOT tighter than AND", "NOT a b", and(not(a), b)],
    ["takes NOT after a term", "a NOT b", and(a, not(b))],
    ["takes NOT after AND and after OR", "a AND NOT b OR NOT c", or(and(a, not(b)), not(c))],
    ["takes NOT twice", "NOT NOT a", not(not(a))],
    ["excludes a field term", "a -tag:b", and(a, not(tag("b")))],
    ["excludes a group", "-(a OR b)", not(or(a, b))],
    ["excludes after NOT", "NOT -tag:b", not(not(tag("b")))],
    ["groups by parentheses", "(a OR b) c", and(or(a, b), c)],
    ["groups directly after a word", "a(b OR c)d", and(a, or(b, c), d)],
    ["drops needless parentheses", "((a)) (b)", and(a, b)],
    ["keeps a list in a list", "(a b) c", and(and(a, b), c)],
    ["keeps alternatives in alternatives", "a OR (b OR c)", or(a, or(b, c))],
    ["takes a repeated term twice", "a a", and(a, a)],
    ["takes a negative number for text", "a -1", and(a, text("-1"))],
  ])("%s", (_what, q, tree) => {
    expect(parsed(q)).toEqual(tree);
  });
});

describe("a term", () => {
  test.each<[what: string, q: string, tree: SearchTree]>([
    ["lowers ASCII letters and no others", "AZ[É\u{212A}\u{17F}", text("az[É\u{212A}\u{17F}")],
    ["in quotes keeps its spaces", '" A  b "', text(" a  b ")],
    ["of all is as a bare one", 'all:A all:"b c"', and(a, text("b c"))],
    ["of a text field", 'name:A project:"B b"', and(text("a", "name"), text("b b", "project"))],
    [
      "of notes, config and metadata",
      'notes:a config:"seed":13 metadata:c',
      and(text("a", "notes"), text("seed", "config"), text(":13"), text("c", "metadata")),
    ],
    ["of config as compact JSON", String.raw`config:"\"seed\":13"`, text('"seed":13', "config")],
    ["of tag, or tags, is a whole tag", 'tag:X tags:"Y  z"', and(tag("x"), tag("y  z"))],
    [
      "of status is a status that is shown",
      'status:stopping OR status:"failed"',
      or({ kind: "status", status: "stopping" }, { kind: "status", status: "failed" }),
    ],
    [
      "of id is a beginning",
      'id:5B0C id:"5b0c-"',
      and({ kind: "id", prefix: "5b0c" }, { kind: "id", prefix: "5b0c-" }),
    ],
    ["of id counts bytes, not characters", "id:éé", { kind: "id", prefix: "éé" }],
    ["of id may look like a regular expression", "id:re:x", { kind: "id", prefix: "re:x" }],
    ["keeps the characters that patterns of SQL know", String.raw`50%_\ `, text(String.raw`50%_\ `.trim())],
  ])("%s", (_what, q, tree) => {
    expect(parsed(q)).toEqual(tree);
  });

  test.each(["running", "stopping", "stopped", "finished", "failed"])("may be the status %s", (status) => {
    expect(parsed(`status:${status}`)).toEqual({ kind: "status", status });
  });

  test.each(["name", "project", "notes", "config", "metadata", "tag", "status", "all"])(
    "may be a regular expression in %s; its case stays",
    (field) => {
      expect(parsed(`${field}:re:/A\\/\\S/`)).toEqual({ kind: "regex", field, pattern: "A/\\S" });
    },
  );

  test("may be a regular expression in everything", () => {
    expect(parsed("re:/x/")).toEqual({ kind: "regex", field: "all", pattern: "x" });
  });
});

describe("a text that no stored text can hold", () => {
  test.each([
    ["a NUL in a word", "a\0"],
    ["a NUL in a phrase", '"\0"'],
    ["a NUL in a field's text", "name:\0"],
    ["a NUL in a tag", "tag:\0"],
    ["a NUL in an id", "id:abc\0"],
    ["a NUL in a regular expression", "re:/a\0/"],
    ["half of a surrogate pair in a regular expression", "name:re:/a\u{D800}/"],
    ["half of a surrogate pair", "a\u{D800}"],
    ["the other half", "tag:\u{DC00}a"],
  ])("finds nothing: %s", (_what, q) => {
    expect(parsed(q)).toEqual(FINDS_NOTHING);
  });

  test("matches everything when it is excluded, and nothing together with other terms", () => {
    expect(parsed("NOT \0 a")).toEqual(and(not(FINDS_NOTHING), a));
  });

  test("finds nothing in an incomplete query either", () => {
    expect(parsed('"a\0 b')).toEqual(and(FINDS_NOTHING, b));
    expect(parsed('"\u{D800}')).toEqual(FINDS_NOTHING);
  });
});

/** The texts of an incomplete query; it must not check any regular expression. */
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
