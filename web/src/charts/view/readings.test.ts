import { expect, test } from "@jest/globals";
import type { Axes, Line } from "../scene/line-model.ts";
import { shortName } from "../scene/names.ts";
import { listed, placeText, spreadText, type Reading } from "./readings.ts";

const column = (...values: number[]): Float64Array => Float64Array.from(values);
const line = (more: Partial<Line>): Line => ({
  id: "a",
  name: "a",
  color: "#000000",
  dash: [],
  x: column(0),
  y: column(0),
  ...more,
});
/** Readings of these values, the highest first, a pixel for each. */
const readings = (...values: number[]): Reading[] =>
  values.map((value) => ({ line: line({ name: String(value) }), place: 0, x: 0, value, left: 0, top: -value }));

test("the nearest of many readings is first, then its neighbors from the highest on", () => {
  const all = readings(90, 80, 70, 60, 50, 40, 30, 20, 10, 0);
  const values = (of: readonly Reading[]) => of.map(({ value }) => value);
  expect(values(listed(all, all[3], 4))).toEqual([60, 80, 70, 50]);
  expect(values(listed(all, all[9], 4))).toEqual([0, 30, 20, 10]);
  expect(values(listed(all, undefined, 3))).toEqual([90, 80, 70]);
  expect(values(listed(readings(2, 1), undefined, 8))).toEqual([2, 1]);
  const odd = readings(3, Number.NaN, 1);
  expect(values(listed(odd, odd[2], 8))).toEqual([1, 3, Number.NaN]);
});

test("a bucket of whole steps is named by the step in its middle; a single point by its own, be it between two", () => {
  const axes: Axes = { x: { kind: "step", log: false }, y: { log: false, ignoreOutliers: false } };
  const text = (of: Line, place: number, as = axes) => placeText(as, { line: of, place, x: of.x[place]! });
  const buckets = line({ x: column(70.93, 213.79, 500), count: column(143, 143, 1) });
  expect([0, 1, 2].map((place) => text(buckets, place))).toEqual(["step 71", "step 214", "step 500"]);
  expect(text(line({ x: column(0.25, 0.5) }), 0)).toBe("step 0.25");
  expect(text(line({ x: column(0.25, 0.5), count: column(3, 3) }), 1)).toBe("step 0.5");
  const byEpoch: Axes = { ...axes, x: { kind: "number", log: false, label: "epoch" } };
  expect(text(buckets, 0, byEpoch)).toBe("epoch 70.93");
});

test("a spread is a deviation where it is even, else a range", () => {
  const spread = (more: Partial<Line>) => spreadText({ line: line({ y: column(0.5), ...more }), place: 0 });
  const even = { low: column(0.5 - 0.123456), high: column(0.5 + 0.123456) };
  expect(spread({ ...even, isSpread: true, count: column(3) })).toBe("± 0.123");
  expect(spread({ ...even, isSpread: true, count: column(1) })).toBe("");
  expect(spread({ low: column(0.1), high: column(0.9), count: column(7) })).toBe("0.1 to 0.9");
  expect(spread({ low: column(0.5), high: column(0.5), count: column(7) })).toBe("");
  expect(spread({})).toBe("");
});

test("long names are shortened in the middle", () => {
  expect(shortName("baseline", 8)).toBe("baseline");
  expect(shortName("bert-base-uncased-lr3e-5-seed2", 16)).toBe("bert-bas…5-seed2");
  expect(shortName("🦊".repeat(20), 5)).toBe("🦊🦊…🦊🦊");
});
