import { describe, expect, test } from "@jest/globals";
import { finish } from "@tidemark/testkit";
import * as comparisons from "./comparison.rules.ts";
import type { NumberRow, TextRow } from "./comparison.rules.ts";

function startComparison(options: { readonly diffOnly: boolean }) {
  const comparison = comparisons.startComparison(options);
  return {
    ...comparison,
    addTexts: (rows: Iterable<TextRow>) => finish(comparison.addTexts(rows)),
    addNumbers: (rows: Iterable<NumberRow>) => finish(comparison.addNumbers(rows)),
  };
}

const texts = (...rows: [string, ...string[]][]): TextRow[] => rows.map(([path, ...values]) => ({ path, values }));
const numbers = (...rows: [string, ...number[]][]): NumberRow[] => rows.map(([path, ...values]) => ({ path, values }));
const many = (count: number, values: readonly string[]): TextRow[] =>
  Array.from({ length: count }, (_, i) => ({ path: `p${String(i).padStart(7, "0")}`, values }));

describe("differences", () => {
  test.each<[string, readonly string[], boolean]>([
    ["one value", ["1"], false],
    ["equal values", ["1", "1"], false],
    ["numbers of one value", ["1", "1.0", "10e-1"], false],
    ["objects in another order", ['{"a":1,"b":2}', '{"b":2,"a":1}'], false],
    ["no value at all", ["", ""], false],
    ["a run without a value", ["1", ""], true],
    ["the first run without a value", ["", "1"], true],
    ["the last of many", ["1", "1", "1", "2"], true],
    ["a number and its text", ["1", '"1"'], true],
    ["no value and one that says null", ["", "null"], false],
    ["null and another value", ["null", "0"], true],
  ])("texts: %s", (_, values, expected) => {
    const comparison = startComparison({ diffOnly: false });
    comparison.addTexts([{ path: "p", values }]);
    expect(comparison.blocks[0]?.different).toEqual([expected]);
  });

  test.each<[string, readonly number[], boolean]>([
    ["one value", [1], false],
    ["equal values", [0.1, 0.1, 0.1], false],
    ["zero with either sign", [0, -0], false],
    ["no value at all", [Number.NaN, Number.NaN], false],
    ["a run without a value", [1, Number.NaN], true],
    ["the first run without a value", [Number.NaN, 1], true],
    ["the last digit", [0.1, 0.1 + 2 ** -56], true],
  ])("numbers: %s", (_, values, expected) => {
    const comparison = startComparison({ diffOnly: false });
    comparison.addNumbers([{ path: "p", values }]);
    expect(comparison.blocks[0]?.different).toEqual([expected]);
  });
});

test("values stand row by row, blocks one after the other", () => {
  const comparison = startComparison({ diffOnly: false });
  comparison.addTexts(texts(["a", "1", "2"], ["b", "", "3"]));
  comparison.addTexts([]);
  comparison.addNumbers(numbers(["m", 1, Number.NaN]));
  expect(comparison.blocks).toEqual([
    { paths: ["a", "b"], different: [true, true], texts: ["1", "2", "", "3"], numbers: [] },
    { paths: ["m"], different: [true], texts: [], numbers: [1, Number.NaN] },
  ]);
  expect(comparison.isOpen()).toBe(true);
});

test("a block is ordered by code points of its paths", () => {
  const comparison = startComparison({ diffOnly: false });
  comparison.addTexts(texts(["\u{1F600}", "1"], ["\u{FF01}", "2"]));
  expect(comparison.blocks[0]).toMatchObject({ paths: ["\u{FF01}", "\u{1F600}"], texts: ["2", "1"] });
});

describe("at most 5,000 rows", () => {
  test("are taken, the next one closes the comparison", () => {
    const comparison = startComparison({ diffOnly: false });
    expect(comparison.addTexts(many(5000, ["1"]))).toBe(true);
    expect(comparison.isOpen()).toBe(true);
    expect(comparison.addNumbers(numbers(["z", 1]))).toBe(false);
    expect(comparison.isOpen()).toBe(false);
    expect(comparison.blocks.flatMap(({ paths }) => paths)).toHaveLength(5000);
  });

  test("count after those without a difference were left out", () => {
    const comparison = startComparison({ diffOnly: true });
    expect(comparison.addTexts(many(6000, ["1", "1"]))).toBe(true);
    expect(comparison.addTexts(many(5000, ["1", "2"]))).toBe(true);
    expect(comparison.addTexts(many(10, ["1", "1"]))).toBe(true);
    expect(comparison.addTexts(many(1, ["1", "2"]))).toBe(false);
    expect(comparison.blocks.flatMap(({ paths }) => paths)).toHaveLength(5000);
  });

  test("and rows beyond them are not even requested", () => {
    const comparison = startComparison({ diffOnly: false });
    let asked = 0;
    function* endless(): Iterable<TextRow> {
      for (;;) yield { path: `p${String((asked += 1)).padStart(7, "0")}`, values: ["1"] };
    }
    expect(comparison.addTexts(endless())).toBe(false);
    expect(asked).toBe(5001);
  });
});

test("values of 32 million characters are enough", () => {
  const comparison = startComparison({ diffOnly: true });
  const large = `"${"x".repeat(8_000_000)}"`;
  const row = (path: string, ...values: string[]) => comparison.addTexts(texts([path, ...values]));
  expect(row("a", large, large)).toBe(true);
  expect(row("b", large, "1")).toBe(true);
  expect(row("c", large, `"${"y".repeat(8_000_000)}"`)).toBe(true);
  expect(row("d", large, `"${"y".repeat(2_000_000)}"`)).toBe(false);
  expect(comparison.blocks.flatMap(({ paths }) => paths)).toEqual(["b", "c"]);
});

test("values of a few hundred thousand characters are compared by value, longer ones as they are written", () => {
  const list = (items: number, item: string): string => `[${Array<string>(items).fill(item).join(",")}]`;
  const comparison = startComparison({ diffOnly: false });
  comparison.addTexts(texts(["a", list(60_000, "1.0"), list(60_000, "1")]));
  comparison.addTexts(texts(["b", list(70_000, "1.0"), list(70_000, "1")]));
  comparison.addTexts(texts(["c", list(70_000, "1.0"), list(70_000, "1.0")]));
  expect(comparison.blocks.map(({ different }) => different)).toEqual([[false], [true], [false]]);
});

test("others have a turn after each row, and after each value that has to be parsed", () => {
  const comparison = comparisons.startComparison({ diffOnly: true });
  const adding = comparison.addTexts(texts(["a", "1.0", ...Array<string>(19).fill("1")], ["b", "1", "1"]));
  let turns = 0;
  while (adding.next().done !== true) turns += 1;
  expect(turns).toBe(21);
});

test("three million values without a difference are enough", () => {
  const comparison = startComparison({ diffOnly: true });
  const same = Array<string>(50).fill("1");
  expect(comparison.addTexts(many(60_000, same))).toBe(true);
  expect(comparison.addTexts(many(1, same))).toBe(false);
  expect(comparison.blocks).toEqual([]);
  expect(comparison.isOpen()).toBe(false);
});

test("a comparison that was cut takes nothing more", () => {
  const comparison = startComparison({ diffOnly: false });
  comparison.cut();
  expect(comparison.addTexts(many(1, ["1"]))).toBe(false);
  expect(comparison.addNumbers(numbers(["m", 1]))).toBe(false);
  expect(comparison.blocks).toEqual([]);
});
