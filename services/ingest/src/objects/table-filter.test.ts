import { expect, test } from "@jest/globals";
import { compareKeys, fulfills, hasText, readFilter, sortKeyOf } from "./table-filter.rules.ts";

test("a filter has conditions on columns, whose names and texts may be quoted", () => {
  expect(readFilter(String.raw` loss<0.5 "val \"acc\"" >= -1e3  -label="a b" ok!=true "-x"=1 a.b/c=+.5`)).toMatchObject(
    [
      { column: "loss", comparison: "<", operand: { kind: "number", digits: "0.5" }, isNegated: false },
      { column: 'val "acc"', comparison: ">=", operand: { kind: "number", digits: "-1e3" } },
      { column: "label", comparison: "=", operand: { kind: "text", text: "a b" }, isNegated: true },
      { column: "ok", comparison: "!=", operand: { kind: "truth", json: "true" } },
      { column: "-x", isNegated: false },
      { column: "a.b/c", operand: { digits: "+.5" } },
    ],
  );
  expect(readFilter("  ")).toEqual([]);
});

test.each([
  ["loss", 1],
  ["loss<", 1],
  ["a=1 loss < word", 5],
  ['a="b', 1],
  ['a="b"c', 1],
  ["a=1b", 1],
  ["=1", 1],
  ["a==1", 1],
])("%j is not a filter: the fault is at %d", (text, position) => {
  expect(() => readFilter(text)).toThrow(
    expect.objectContaining({ field: "filter", message: expect.stringContaining(`at ${position}`) }),
  );
});

test("a filter is bounded", () => {
  expect(() => readFilter(`a="${"x".repeat(510)}"`)).toThrow("512 bytes");
  expect(() => readFilter("a=1 ".repeat(33))).toThrow("32 conditions");
});

test.each<[string, string | undefined, boolean]>([
  ["a<2", "1.5", true],
  ["a<2", "2", false],
  ["a>=2", "2", true],
  ["a=9007199254740993", "9007199254740993", true],
  ["a=9007199254740993", "9007199254740992", false],
  ["a>9007199254740992", "9007199254740993", true],
  ["a=1", '"1"', false],
  ["a!=1", '"1"', true],
  ["-a=1", '"1"', true],
  ['a="é"', String.raw`"\u00e9"`, true],
  ['a="A"', '"a"', false],
  ['a<"b"', '"a"', true],
  ["a=true", "true", true],
  ["a!=true", "1", true],
  ["a!=1", undefined, false],
  ["a!=1", "null", false],
  ["-a=1", undefined, false],
  ["a=1e2", "100", true],
])("%s of the cell %j is %j", (filter, cell, expected) => {
  expect(fulfills(cell, readFilter(filter)[0]!)).toBe(expected);
});

test("cells are sorted: numbers, texts, all else, and in both directions missing ones last", () => {
  const cells = ['"b"', "10", undefined, "9", "9007199254740993", "9007199254740992", "null", "true", '"B"', "-1"];
  const sorted = (descending: boolean) =>
    cells.toSorted((a, b) => compareKeys(sortKeyOf(a), sortKeyOf(b), descending)).map((cell) => cell ?? "null");
  const up = ["-1", "9", "10", "9007199254740992", "9007199254740993", '"B"', '"b"', "true"];
  expect(sorted(false)).toEqual([...up, "null", "null"]);
  expect(sorted(true)).toEqual([...up.toReversed(), "null", "null"]);
});

test("a text is found in any cell, ignoring ASCII case", () => {
  expect([hasText('"A Cat"', "cat"), hasText(String.raw`"c\u0061t"`, "cat"), hasText('{"a":"CAT"}', "cat")]).toEqual([
    true,
    true,
    true,
  ]);
  expect([hasText("12.5", "2.5"), hasText('"dog"', "cat")]).toEqual([true, false]);
});
