import { describe, expect, test } from "@jest/globals";
import { notFiniteText, readingsAt, summaryOf } from "../view/readings.ts";
import type { Axes, Line } from "./line-model.ts";
import { lineScene } from "./line-scene.ts";
import type { Shape } from "./scene.ts";
import { svgOf } from "./svg-element.ts";
import { csvOf, rowsOf } from "./table-rows.ts";

const { NaN: nan } = Number;
const inks = { surface: "#ffffff", ink: "#000000", faint: "#666666", rule: "#dddddd" };
const axes: Axes = { x: { kind: "step", log: false }, y: { log: false, ignoreOutliers: false } };
const column = (...values: number[]): Float64Array => Float64Array.from(values);
const line = (y: Float64Array, more: Partial<Line> = {}): Line => ({
  id: "a",
  name: "first",
  color: "#2b3fe0",
  dash: [],
  x: Float64Array.from(y, (_, i) => 10 * i),
  y,
  ...more,
});
const drawn = (...lines: readonly Line[]) => lineScene({ lines, axes, size: { width: 400, height: 200 }, inks })!;
type Path = Extract<Shape, { readonly kind: "path" }>;
const paths = (inside: readonly Shape[]) => inside.filter((shape): shape is Path => shape.kind === "path");

/** A run that diverges, as points; and as buckets, of which only the number of such values is known. */
const points = line(column(1, 2, nan, 3, 4, Infinity, -Infinity));
const buckets = line(column(1, 2, nan), {
  low: column(0, 1, nan),
  high: column(2, 3, nan),
  count: column(40, 37, 0),
  nonFinite: column(0, 3, 40),
});

describe("values that are not finite", () => {
  test("are a gap in the line, and marks in its color at their steps: NaN on the axis, infinite values at their edges", () => {
    const { scene, x, y, notes, extent } = drawn(points);
    const { left, top, height } = scene.plot;
    const bottom = top + height;
    const [first, ...others] = paths(scene.inside);
    const at = (step: number, value: number): number[] => [x.toPixel(step), y.toPixel(value)];
    expect([...first!.points]).toEqual([...at(0, 1), ...at(10, 2), nan, nan, ...at(30, 3), ...at(40, 4), nan, nan]);
    const [cross, above, below] = [20, 50, 60].map((step) => x.toPixel(step)) as [number, number, number];
    expect(others.map(({ stroke, line: id }) => [stroke, id])).toEqual([["#2b3fe0", "a"]]);
    const crossed = [
      cross - 3,
      bottom - 7,
      cross + 3,
      bottom - 1,
      nan,
      nan,
      cross - 3,
      bottom - 1,
      cross + 3,
      bottom - 7,
    ];
    const upward = [above - 3, top + 6, above, top, above + 3, top + 6];
    const downward = [below - 3, bottom - 6, below, bottom, below + 3, bottom - 6];
    const ended = (points: number[]): number[] => [...points, nan, nan];
    expect([...others[0]!.points]).toEqual([crossed, upward, downward].flatMap(ended));
    expect(cross).toBeGreaterThan(left);
    expect(extent.notFinite).toEqual({ count: 3, isAbove: true, isBelow: true });
    expect(notes).toEqual(["3 values are not finite, marked ×, ∧ for Infinity, ∨ for -Infinity"]);
    expect(svgOf(scene, "loss")).toContain('aria-label="first, values that are not finite"');
  });

  test("of a bucket are counted and marked, and its finite ones are drawn", () => {
    const { scene, notes, x } = drawn(buckets);
    const [first, ...others] = paths(scene.inside);
    expect(first!.points.length / 2 - 1).toBe(2);
    const centers = [10, 20].map((step) => x.toPixel(step));
    expect(others.map((path) => [path.points[0]! + 3, path.points[12]! + 3])).toEqual([centers]);
    expect(notes).toEqual(["43 values are not finite, marked ×"]);
  });

  test("that lie so close that their marks would cover each other have one mark; beyond the view they have none", () => {
    const many = line(new Float64Array(1000).fill(nan, 1).fill(1, 999));
    const marks = paths(drawn(many).scene.inside).at(-1)!.points;
    const lefts = marks.filter((_, i) => i % 12 === 0);
    expect(lefts.length).toBeGreaterThan(50);
    expect(lefts.length).toBeLessThan(100);
    const { scene } = lineScene({
      lines: [points],
      axes: { ...axes, zoomX: [0, 15] },
      size: { width: 400, height: 200 },
      inks,
    })!;
    expect(paths(scene.inside)).toHaveLength(1);
  });

  test("are read at the crosshair, the table, the summary and in files", () => {
    const scene = drawn(points, { ...buckets, id: "b", name: "second" });
    const read = (lines: readonly Line[], step: number) =>
      readingsAt(lines, step, scene.x, scene.y).map((one) => [one.value, notFiniteText(axes, one)]);
    expect(read([points], 10)).toEqual([[2, ""]]);
    expect(read([points], 20)).toEqual([[nan, "NaN at step 20"]]);
    expect(read([points], 60)).toEqual([[-Infinity, "-Infinity at step 60"]]);
    const smoothed = column(1, 1, 1, 1, 1, 1, 1);
    expect(read([{ ...points, smoothed }], 50)).toEqual([[Infinity, "Infinity at step 50"]]);
    expect(read([buckets, points], 10)).toEqual([
      [2, "3 of 40 values not finite"],
      [2, ""],
    ]);
    expect(read([points, buckets], 20)).toEqual([
      [nan, "NaN at step 20"],
      [nan, "40 of 40 values not finite"],
    ]);
    expect(summaryOf("loss", [points], drawn(points), axes)).toBe(
      "loss: 1 line, step 0 to step 60, values 1 to 4, 3 values not finite. Arrow keys read values.",
    );
    expect(rowsOf([points], undefined).rows.map(({ values }) => values[0])).toEqual(
      "1 2 NaN 3 4 Infinity -Infinity".split(" "),
    );
    expect(rowsOf([buckets], undefined).rows.map(({ values }) => values[0])).toEqual([
      "1",
      "2 (3 of 40 not finite)",
      "NaN",
    ]);
    expect(csvOf([points], [50, 60], { xName: "step", yName: "loss" }).split("\r\n").slice(1, 3)).toEqual([
      "a,first,50,Infinity",
      "a,first,60,-Infinity",
    ]);
    expect(csvOf([buckets], [0, 20], { xName: "step", yName: "loss" }).split("\r\n").slice(0, 4)).toEqual([
      "id,name,step,loss,low,high,count,non_finite",
      "a,first,0,1,0,2,40,0",
      "a,first,10,2,1,3,37,3",
      "a,first,20,NaN,NaN,NaN,0,40",
    ]);
  });
});
