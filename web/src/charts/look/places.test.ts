import fc from "fast-check";
import { expect, test } from "@jest/globals";
import { placesOf, type PlacesInput } from "./places.ts";

const NONE = new Map<string, number>();
const places = (visible: readonly string[], more: Partial<PlacesInput> = {}): Record<string, number> =>
  Object.fromEntries(placesOf({ visible, before: NONE, remembered: NONE, chosen: NONE, ...more }));

test("lines get places in their order", () => {
  expect(places(["c", "a", "b", "a"])).toEqual({ c: 0, a: 1, b: 2 });
});

test("lines keep their places in another order, and new ones get what is free", () => {
  const before = new Map(Object.entries(places(["a", "b", "c"])));
  expect(places(["c", "b", "a"], { before })).toEqual({ a: 0, b: 1, c: 2 });
  expect(places(["new", "a", "c"], { before })).toEqual({ new: 1, a: 0, c: 2 });
});

test("lines that come back get their old places while these are free", () => {
  const remembered = new Map([
    ["a", 5],
    ["b", 0],
  ]);
  expect(places(["x", "a", "b"], { remembered })).toEqual({ x: 1, a: 5, b: 0 });
  expect(places(["x", "b"], { remembered, before: new Map([["x", 0]]) })).toEqual({ x: 0, b: 1 });
});

test("a place that a person chose is not given to others", () => {
  const before = new Map(Object.entries(places(["a", "b"])));
  expect(places(["a", "b"], { before, chosen: new Map([["b", 0]]) })).toEqual({ b: 0, a: 1 });
});

test("no two lines have the same place, and none moves without need", () => {
  const ids = fc.uniqueArray(fc.integer({ min: 0, max: 30 }).map(String), { maxLength: 20 });
  fc.assert(
    fc.property(ids, ids, (first, second) => {
      const before = placesOf({ visible: first, before: NONE, remembered: NONE, chosen: NONE });
      const after = placesOf({ visible: second, before, remembered: NONE, chosen: NONE });
      expect(new Set(after.values()).size).toBe(second.length);
      for (const id of second) if (before.has(id)) expect(after.get(id)).toBe(before.get(id));
    }),
  );
});
