import { expect, test } from "@jest/globals";
import { spansInCycles } from "./span-cycles.ts";

const [T, U] = ["a".repeat(32), "b".repeat(32)];
const cyclesOf = (...parents: readonly (readonly [child: string, parent: string])[]): string[] =>
  [...spansInCycles(new Map(parents.map(([child, parent]) => [T + child, parent])))]
    .map((key) => key.slice(32))
    .toSorted();

test.each([
  [
    "a chain",
    [
      ["1", "2"],
      ["2", "3"],
    ],
    [],
  ],
  [
    "two spans",
    [
      ["1", "2"],
      ["2", "1"],
    ],
    ["1", "2"],
  ],
  [
    "three spans, and a child of one of them",
    [
      ["0", "1"],
      ["1", "2"],
      ["2", "3"],
      ["3", "1"],
    ],
    ["1", "2", "3"],
  ],
  [
    "two cycles",
    [
      ["1", "2"],
      ["2", "1"],
      ["5", "6"],
      ["6", "5"],
      ["7", "5"],
    ],
    ["1", "2", "5", "6"],
  ],
  ["none", [], []],
] as [string, [string, string][], string[]][])("%s", (_, parents, expected) => {
  expect(cyclesOf(...parents)).toEqual(expected);
  expect(cyclesOf(...parents.toReversed())).toEqual(expected);
});

test("spans of different traces form none", () => {
  const parents = new Map([
    [`${T}1`, "2"],
    [`${U}2`, "1"],
  ]);
  expect(spansInCycles(parents).size).toBe(0);
});

test("a chain of 100,000 spans takes no longer than they are many", () => {
  const parents = new Map(Array.from({ length: 100_000 }, (_, i) => [`${T}${i}`, String(i + 1)] as const));
  expect(spansInCycles(parents).size).toBe(0);
});
