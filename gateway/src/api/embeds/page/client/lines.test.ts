import { describe, expect, test } from "@jest/globals";
import { extentOf, nearestPoint, pathsOf, shareOf, type Point } from "./lines.ts";

const points = (...values: readonly (number | null)[]): Point[] => values.map((value, step) => ({ step, value }));
const scale = { x: (step: number) => 10 * step, y: (value: number) => -value };

describe("the paths of a line", () => {
  test.each<[string, Point[], { line: string; dots: string }]>([
    ["nothing", [], { line: "", dots: "" }],
    ["a line", points(1, 2, 3), { line: "M0 -1L10 -2L20 -3", dots: "" }],
    ["one point", points(1), { line: "", dots: "M0 -1h0" }],
    ["a gap", points(1, 2, null, 4, 5), { line: "M0 -1L10 -2M30 -4L40 -5", dots: "" }],
    ["points between gaps", points(null, 2, null, null, 5), { line: "", dots: "M10 -2h0M40 -5h0" }],
    ["no values", points(null, null), { line: "", dots: "" }],
    ["tenths of pixels", [{ step: 0.123, value: 0.04 }], { line: "", dots: "M1.2 0h0" }],
  ])("of %s", (_, of, expected) => expect(pathsOf(of, scale)).toEqual(expected));
});

describe("the extent of lines", () => {
  test("covers what has a value", () => {
    expect(extentOf([points(null, 5, -1), [], points(3)])).toEqual({ steps: [0, 2], values: [-1, 5] });
  });

  test("is unknown without values", () => {
    expect(extentOf([])).toBeUndefined();
    expect(extentOf([[], points(null)])).toBeUndefined();
  });
});

test.each([
  [5, 0, 10, 0.5],
  [0, 0, 10, 0],
  [10, 0, 10, 1],
  [7, 7, 7, 0.5],
  [0, -1.7e308, 1.7e308, 0.5],
])("%d between %d and %d is at %d", (value, low, high, share) => {
  expect(shareOf(value, [low, high])).toBe(share);
});

test("the nearest point is found among all lines, gaps passed over", () => {
  const lines = [points(0, 0, 0), points(null, -9, null)];
  expect(nearestPoint(lines, scale, { x: 11, y: 8 })).toEqual({ line: 1, point: { step: 1, value: -9 } });
  expect(nearestPoint(lines, scale, { x: 19, y: 8 })).toEqual({ line: 0, point: { step: 2, value: 0 } });
  expect(nearestPoint([points(null)], scale, { x: 0, y: 0 })).toBeUndefined();
});
