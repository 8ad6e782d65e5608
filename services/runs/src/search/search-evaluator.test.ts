import { describe, expect, test } from "@jest/globals";
import { matches, type MatchesRegex, type SearchedRun } from "./search-evaluator.fixture.ts";
import type { RegexField, SearchTree, TextField } from "./tree.rules.ts";

const KIB_32 = 32 * 1024;

const run: SearchedRun = {
  id: "5b0c1d2e-0000-4000-8000-00000000000f",
  project: "Vision",
  name: "Calm Otter 3",
  tags: ["base line", "B", "É"],
  metadata: '{"comment":"Last","note":7,"notes":"First: \\"x\\"","summary":"Middle","z":{"note":"Deep"}}',
  config: '{"lr":0.1,"seed":13}',
  status: "running",
  displayStatus: "stopping",
};

const insensitive: MatchesRegex = (pattern, text) => new RegExp(pattern, "iu").test(text);
const found = (tree: SearchTree, changes: Partial<SearchedRun> = {}) =>
  matches(tree, { ...run, ...changes }, insensitive);
const text = (value: string, field: TextField = "all"): SearchTree => ({ kind: "text", field, text: value });
const regex = (pattern: string, field: RegexField = "all"): SearchTree => ({ kind: "regex", field, pattern });
const never = text("no such text");

describe("a text", () => {
  test.each<[what: string, expected: boolean, tree: SearchTree]>([
    ["is found anywhere in the name", true, text("m ott", "name")],
    ["is not found in another field", false, text("vision", "name")],
    ["is found in the project", true, text("vision", "project")],
    ["is found in the config as JSON", true, text('"seed":13', "config")],
    ["is found in the metadata as JSON", true, text('"note":"deep"', "metadata")],
    ["is found in the notes as they read", true, text('first: "x" middle last', "notes")],
    ["is not found in notes that are not a text, or deeper", false, text("deep", "notes")],
    ["of all is found in the summary, across its parts", true, text("vision calm otter 3 base line b É first")],
    ["of all is found in the summary after the notes", true, text("last running 5b0c")],
    ["of all is found in the status that is shown", true, text("00000f stopping")],
    ["of all is found in the status that is stored", true, text("running")],
    ["of all is found in the config", true, text('"lr"')],
    ["of all is found in the metadata", true, text('"z":{')],
    ["of all is not found across summary and config", false, text("stopping {")],
    ["ignores the case of ASCII letters only", false, text("é")],
    ["takes a percent sign for itself", false, text("%")],
    ["takes an underscore for itself", false, text("calm_otter")],
  ])("%s", (_what, expected, tree) => {
    expect(found(tree)).toBe(expected);
  });

  test("is found in a summary without empty parts, and with the status once when it is the one that is shown", () => {
    const plain = { tags: [], metadata: "{}", displayStatus: "running" } as const;
    expect(found(text(`otter 3 running ${run.id}`), plain)).toBe(true);
    expect(found(text(`${run.id} running`), plain)).toBe(false);
  });

  test("ignores no case of letters that only Unicode folds", () => {
    expect(found(text("k", "name"), { name: "\u{212A}" })).toBe(false);
    expect(found(text("\u{212A}", "name"), { name: "\u{212A}" })).toBe(true);
  });
});

describe("of a text beyond 32 KiB", () => {
  const long = (fill: string, tail: string) => fill.repeat(KIB_32).slice(0, KIB_32 - 4) + tail;

  test.each<[what: string, expected: boolean, value: string, changes: Partial<SearchedRun>, field: TextField]>([
    ["the last byte counts", true, "b", { name: long("a", "aaab") }, "name"],
    ["the next byte does not", false, "b", { name: long("a", "aaaab") }, "name"],
    ["a character that is cut does not", false, "é", { name: long("a", "aaaé") }, "name"],
    ["a character that just fits does", true, "é", { name: long("a", "aaé") }, "name"],
    ["the config is cut by itself", true, "lr", { name: long("a", "aaaab") }, "all"],
    ["the summary is cut as a whole", false, run.id, { project: long("a", "") }, "all"],
    [
      "the end of the project is still in its own text",
      true,
      "b",
      { name: long("a", ""), project: long("a", "b") },
      "project",
    ],
    ["the status that is shown is cut off too", false, "stopping", { project: long("a", "") }, "all"],
  ])("%s", (_what, expected, value, changes, field) => {
    expect(found(text(value, field), { metadata: "{}", ...changes })).toBe(expected);
  });

  test("tags count that end within the first 32 KiB of them all", () => {
    const full = Array.from({ length: 63 }, () => "a".repeat(511));
    const tag = (value: string) =>
      found({ kind: "tag", tag: value }, { tags: [...full, "b".repeat(508), "c", "d", "e"] });
    expect([tag("b".repeat(508)), tag("c"), tag("d"), tag("e")]).toEqual([true, true, true, false]);
  });
});

describe("a tag, a status, an id", () => {
  test.each<[what: string, expected: boolean, tree: SearchTree]>([
    ["a whole tag is found", true, { kind: "tag", tag: "base line" }],
    ["a part of a tag is not", false, { kind: "tag", tag: "base" }],
    ["a tag ignores ASCII case", true, { kind: "tag", tag: "b" }],
    ["a tag keeps other case", false, { kind: "tag", tag: "é" }],
    ["the status shown is found", true, { kind: "status", status: "stopping" }],
    ["the status stored is not", false, { kind: "status", status: "running" }],
    ["the beginning of an id is found", true, { kind: "id", prefix: "5b0c1d2e-0" }],
    ["a later part of an id is not", false, { kind: "id", prefix: "1d2e" }],
  ])("%s", (_what, expected, tree) => {
    expect(found(tree)).toBe(expected);
  });
});

describe("a regular expression", () => {
  test.each<[what: string, expected: boolean, tree: SearchTree]>([
    ["is searched in the summary", true, regex("^vision.*stopping$")],
    ["is searched in the config", true, regex("^\\{.*13\\}$")],
    ["is searched in each tag by itself", true, regex("^b$", "tag")],
    ["is not searched across tags", false, regex("line b", "tag")],
    ["is searched in the status that is shown", true, regex("^stopping$", "status")],
    ["is searched in a field", true, regex("^calm otter \\d$", "name")],
    ["folds case by Unicode", true, regex("é", "tag")],
    ["is not searched in another field", false, regex("vision", "name")],
  ])("%s", (_what, expected, tree) => {
    expect(found(tree)).toBe(expected);
  });
});

test.each<[what: string, expected: boolean, tree: SearchTree]>([
  ["and needs all", false, { kind: "and", nodes: [text("otter"), never] }],
  ["and is content with all", true, { kind: "and", nodes: [text("otter"), text("calm")] }],
  ["or needs one", true, { kind: "or", nodes: [never, text("otter")] }],
  ["or needs at least one", false, { kind: "or", nodes: [never, never] }],
  ["not turns it round", true, { kind: "not", node: never }],
])("%s", (_what, expected, tree) => {
  expect(found(tree)).toBe(expected);
});

test("notes that no database text can hold read U+FFFD there", () => {
  const metadata = String.raw`{"notes":"a\u0000b\ud800c"}`;
  expect(found(text("a\u{FFFD}b\u{FFFD}c", "notes"), { metadata })).toBe(true);
  expect(found(text(String.raw`a\u0000b\ud800c`, "metadata"), { metadata })).toBe(true);
});
