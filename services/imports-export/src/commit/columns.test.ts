import { expect, test } from "@jest/globals";
import { createContentBuilder } from "../content/content.rules.ts";
import { columnsOf, hasBit, pointsBySource } from "./columns.rules.ts";

function contentOf(points: readonly (readonly [string, string, number, number, number | null])[]) {
  const builder = createContentBuilder();
  for (const point of points) builder.addPoint(...point);
  return builder.build();
}

test("neighbors of one step and time are one point of several keys", () => {
  const content = contentOf([
    ["a", "x", 1, 10, 5],
    ["a", "y", 1, 20, 5],
    ["a", "x", 2, 11, null],
    ["a", "y", 2, 21, null],
  ]);
  const columns = columnsOf(content, [0, 1, 2, 3]);
  expect(columns).toMatchObject({ keys: ["x", "y"] });
  expect([...columns.steps]).toEqual([1, 2]);
  expect([...columns.timestampsUs]).toEqual([5, Number.NaN]);
  expect([...columns.values]).toEqual([10, 11, 20, 21]);
  expect(columns.offsets).toHaveLength(0);
});

test("a key that is repeated at its step and time is another point, and no value is lost", () => {
  const content = contentOf([
    ["a", "x", 1, 10, null],
    ["a", "x", 1, 11, null],
    ["a", "__proto__", 1, 12, null],
  ]);
  const columns = columnsOf(content, [0, 1, 2]);
  expect(columns.keys).toEqual(["__proto__", "x"]);
  expect([...columns.steps]).toEqual([1, 1]);
  expect([...columns.values]).toEqual([12, 10, 11]);
});

test("points are found by source, without those that are not wanted", () => {
  const content = contentOf([
    ["a", "x", 1, 1, null],
    ["b", "x", 1, 1, null],
    ["a", "x", 2, 1, null],
  ]);
  const bits = Uint8Array.of(0b100);
  expect(pointsBySource(content, (_, i) => !hasBit(bits, i))).toEqual(
    new Map([
      [0, [0]],
      [1, [1]],
    ]),
  );
  expect(hasBit(null, 2)).toBe(false);
});
