import { columnName, readColumn } from "@tidemark/values/run-search";
import fc from "fast-check";
import { parseExact, writeCanonical, type ExactJson } from "@tidemark/documents";
import { describe, expect, test } from "@jest/globals";
import { attributePaths, documentPaths, isCertainlyLonger } from "./column.rules.ts";

describe("the name of a column", () => {
  test.each([
    ["config.lr", "config.lr"],
    ["config.a.b", "config.a.b"],
    ["attributes.git/commit", "attributes.git/commit"],
    ["metrics.loss", "metrics.loss.latest"],
    ["metrics.loss.latest", "metrics.loss.latest"],
    ["metrics.loss.best", "metrics.loss.best"],
    ["metrics.loss.min", "metrics.loss.min"],
    ["metrics.loss.max", "metrics.loss.max"],
    ["metrics.loss.mean", "metrics.loss.mean"],
    ["metrics.loss.count", "metrics.loss.count"],
    ["metrics.loss.variance", "metrics.loss.variance.latest"],
    ["metrics.min", "metrics.min.latest"],
    ["metrics..min", "metrics..min.latest"],
    [`config.${"x".repeat(512)}`, `config.${"x".repeat(512)}`],
  ])("%s means %s", (name, meaning) => {
    const column = readColumn(name);
    expect(column === undefined ? undefined : columnName(column)).toBe(meaning);
  });

  test.each([
    "",
    "lr",
    "config",
    "config.",
    "metrics.",
    ".lr",
    "Config.lr",
    "tags.x",
    `config.${"x".repeat(513)}`,
    "config.\0",
    "config.\u{D800}",
  ])("%j is none", (name) => {
    expect(readColumn(name)).toBeUndefined();
  });
});

test("a path is tried whole, then nested, longer keys first", () => {
  expect(documentPaths("a")).toEqual([["a"]]);
  expect(documentPaths("a.b.c")).toEqual([["a.b.c"], ["a.b", "c"], ["a", "b.c"], ["a", "b", "c"]]);
  expect(documentPaths("a..b")).toEqual([["a..b"], ["a.", "b"], ["a", ".b"], ["a", "", "b"]]);
  expect(documentPaths("a.b.c.d.e.f")).toHaveLength(32);
  expect(documentPaths("a.b.c.d.e.f.g")).toEqual([["a.b.c.d.e.f.g"], ["a", "b", "c", "d", "e", "f", "g"]]);
});

test("a config is also read from the attributes of log_config", () => {
  expect(attributePaths({ kind: "config", path: "lr" })).toEqual(["config/lr"]);
  expect(attributePaths({ kind: "config", path: "a.b" })).toEqual(["config/a.b", "config/a/b"]);
  expect(attributePaths({ kind: "attributes", path: "a.b" })).toEqual(["a.b"]);
});

test("certainly longer values are longer", () => {
  fc.assert(
    fc.property(fc.json(), (json) => {
      const value = parseExact(json);
      expect(isCertainlyLonger(value, writeCanonical(value).length)).toBe(false);
    }),
  );
});

test.each<[string, ExactJson]>([
  ["a text", "x".repeat(1000)],
  ["a list", Array.from({ length: 1000 }, () => 1)],
  ["an object", Object.fromEntries(Array.from({ length: 250 }, (_, n) => [`${n}`, null]))],
  ["nested objects", { a: { b: { c: ["x".repeat(1000)] } } }],
])("%s of much more than the most is certainly longer, and is not read to its end", (_what, value) => {
  expect(isCertainlyLonger(value, 900)).toBe(true);
  const untouchable = new Proxy({}, { ownKeys: () => raise("it was read to its end") });
  expect(isCertainlyLonger([value, untouchable], 900)).toBe(true);
});

function raise(message: string): never {
  throw new Error(message);
}
