import { describe, expect, test } from "@jest/globals";
import { csvOf, rowsOf } from "./table-rows.ts";
import { nearestAt, type Axes, type Line } from "./line-model.ts";
import { lineScene } from "./line-scene.ts";
import type { Shape } from "./scene.ts";
import { svgOf } from "./svg-element.ts";

const inks = { surface: "#ffffff", ink: "#000000", faint: "#666666", rule: "#dddddd" };
const size = { width: 400, height: 200 };
const axes: Axes = { x: { kind: "number", log: false }, y: { log: false, ignoreOutliers: false } };
const column = (...values: number[]): Float64Array => Float64Array.from(values);
const line = (x: Float64Array, y: Float64Array, more: Partial<Line> = {}): Line => ({
  id: "a",
  name: "first",
  color: "#2b3fe0",
  dash: [],
  x,
  y,
  ...more,
});
const drawn = (lines: readonly Line[], more: Partial<Axes> = {}) =>
  lineScene({ lines, axes: { ...axes, ...more }, size, inks })!;
const of = <Kind extends Shape["kind"]>(shapes: readonly Shape[], kind: Kind) =>
  shapes.filter((shape): shape is Extract<Shape, { kind: Kind }> => shape.kind === kind);

/** Returns how many pieces a list of points has. */
const pieces = (points: Float64Array): number => points.filter((value, i) => i % 2 === 0 && Number.isNaN(value)).length;

describe("a picture of lines", () => {
  test("is nothing without points", () => {
    expect(lineScene({ lines: [], axes, size, inks })).toBeUndefined();
    expect(lineScene({ lines: [line(column(), column())], axes, size, inks })).toBeUndefined();
  });

  test("has a dot for each value and no path where only points are drawn", () => {
    const { scene } = drawn([line(column(1, 1, 2, 3), column(5, 6, Number.NaN, 7), { hasOnlyPoints: true })]);
    const [dots] = of(scene.inside, "dots");
    expect(dots!.points).toHaveLength(6);
    expect(of(scene.inside, "path").map(({ label }) => label)).toEqual(["first, values that are not finite"]);
  });

  test("shows a band to the extremes of each bucket, so that one spike is seen that the mean hides", () => {
    const n = 100;
    const x = Float64Array.from({ length: n }, (_, i) => i * 5000);
    const y = new Float64Array(n).fill(1);
    const low = new Float64Array(n).fill(0.9);
    const high = new Float64Array(n).fill(1.1);
    high[40] = 1000;
    const { scene, y: scale } = drawn([line(x, y, { low, high, count: new Float64Array(n).fill(5000) })]);
    const [band] = of(scene.inside, "area");
    const tops = band!.points.filter((_, i) => i % 2 === 1 && !Number.isNaN(band!.points[i]!));
    expect(Math.min(...tops)).toBeCloseTo(scale.toPixel(1000), 6);
    expect(scale.toPixel(1000)).toBeLessThan(30);
    // It is one pixel wide, so it is drawn stronger than the band.
    const strong = (shapes: readonly Shape[]) =>
      of(shapes, "path").filter(({ alpha, label }) => alpha > 0.5 && label === undefined);
    expect(strong(scene.inside).map(({ points }) => points.length / 6)).toEqual([1]);
    // The spread of a group hides no points.
    expect(strong(drawn([line(x, y, { low, high, isSpread: true })]).scene.inside)).toEqual([]);
  });

  test("ends lines and bands at gaps and shows single points as dots", () => {
    const x = column(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 90);
    const { scene } = drawn([line(x, x)]);
    const paths = of(scene.inside, "path");
    expect(pieces(paths[0]!.points)).toBe(2);
    expect(of(scene.inside, "dots").map(({ points }) => points.length)).toEqual([2]);
    expect(pieces(of(drawn([line(x, x, { low: x, high: x })]).scene.inside, "area")[0]!.points)).toBe(3);
  });

  test("has no gaps where distances grow, or where points come in pairs", () => {
    for (const x of [
      column(1, 2, 4, 8, 16, 32, 64, 128, 256),
      column(100, 101, 200, 201, 300, 301, 400, 401, 500, 501),
    ])
      expect(pieces(of(drawn([line(x, x)]).scene.inside, "path")[0]!.points)).toBe(1);
  });

  test("says how many points a logarithmic axis drops, and shows the others", () => {
    const { notes, scene, extent } = drawn([line(column(0, 1, 2, 3), column(-1, 0, 10, 100))], {
      y: { log: true, ignoreOutliers: false },
    });
    expect(notes).toEqual(["2 points not above 0 left out by the logarithmic y axis"]);
    expect(of(scene.inside, "path")[0]!.points.length / 2 - 1).toBe(2);
    expect(extent.y[0]).toBeGreaterThan(0);
    const onX = drawn([line(column(0, 1, 10), column(1, 2, 3))], { x: { kind: "number", log: true } });
    expect(onX.notes).toEqual(["1 point not above 0 left out by the logarithmic x axis"]);
  });

  test("says `at least` where a bucket hides how many points are not above 0", () => {
    const bucket = line(column(0, 100), column(5, 5), {
      low: column(-1, 1),
      high: column(9, 9),
      count: column(100, 100),
    });
    expect(drawn([bucket], { y: { log: true, ignoreOutliers: false } }).notes).toEqual([
      "At least 1 point not above 0 left out by the logarithmic y axis",
    ]);
  });

  test("with only points that a logarithmic axis has no place for still says so", () => {
    expect(drawn([line(column(0, 1), column(-1, -2))], { y: { log: true, ignoreOutliers: false } }).notes).toEqual([
      "2 points not above 0 left out by the logarithmic y axis",
    ]);
  });

  test("leaves out outliers only when asked to, and says how many and how far", () => {
    const x = Float64Array.from({ length: 200 }, (_, i) => i);
    const y = x.map((i) => (i === 7 ? 1e6 : Math.sin(i)));
    expect(drawn([line(x, y)]).extent.y[1]).toBeGreaterThan(1e6);
    const { extent, notes } = drawn([line(x, y)], { y: { log: false, ignoreOutliers: true } });
    expect(extent.y[1]).toBeLessThan(3);
    expect(notes[0]).toMatch(/^1 outlier beyond the axis, which would reach from -\S+ to 1000000$/);
  });

  test("has the raw line faint behind the smoothed one", () => {
    const { scene } = drawn([line(column(0, 1, 2), column(0, 9, 0), { smoothed: column(0, 3, 2), dash: [8, 3] })]);
    const paths = of(scene.inside, "path");
    expect(paths.map(({ label }) => label)).toEqual(["first, not smoothed", "first"]);
    expect(paths[0]!.alpha).toBeLessThan(paths[1]!.alpha);
    expect(paths[1]!.dash).toEqual([8, 3]);
  });

  test("has the parent's part of a fork thinner and in dots, up to its first own point", () => {
    const x = column(0, 1, 2, 3, 4);
    const fork = line(x, x, { step: x, forkStep: 2 });
    const [parents, own, ...more] = of(drawn([fork]).scene.inside, "path");
    expect(more).toEqual([]);
    // A dot marks the fork, where the parent's part ends.
    expect(of(drawn([fork]).scene.inside, "dots").map(({ label, points }) => [label, points])).toEqual([
      ["Fork of first", parents!.points.slice(4, 6)],
    ]);
    expect([parents!.label, own!.label]).toEqual(["first, of its parent", "first"]);
    expect(parents!.stroke).toBe(own!.stroke);
    expect(parents!.width).toBeLessThan(own!.width);
    expect(own!.dash).toEqual([]);
    // Each ends with a pair that is not a place: from 0 to 3, and from 3 to 4.
    expect([parents, own].map((path) => path!.points.length / 2 - 1)).toEqual([4, 2]);
    expect(parents!.points.slice(6, 8)).toEqual(own!.points.slice(0, 2));
    const smoothed = of(drawn([{ ...fork, smoothed: x }]).scene.inside, "path");
    expect(smoothed.map(({ label }) => label)).toEqual(["first, not smoothed", "first, of its parent", "first"]);
  });

  test("dims all but the highlighted line, which lies above them", () => {
    const lines = ["a", "b", "c"].map((id) => line(column(0, 1), column(0, 1), { id, name: id }));
    const { scene } = lineScene({ lines, axes, size, inks, highlight: "a" })!;
    expect(of(scene.inside, "path").map(({ label, alpha }) => [label, alpha])).toEqual([
      ["b", 0.15],
      ["c", 0.15],
      ["a", 1],
    ]);
  });

  test("covers a zoomed range exactly and scales the other axis to what is in it", () => {
    const x = Float64Array.from({ length: 100 }, (_, i) => i);
    const { extent } = drawn([line(x, x)], { zoomX: [10, 20] });
    expect(extent.x).toEqual([10, 20]);
    expect(extent.y[0]).toBeCloseTo(9.6, 9);
    expect(extent.y[1]).toBeCloseTo(20.4, 9);
  });
});

test("the file of a picture has what the canvas draws, with texts escaped", () => {
  const { scene } = drawn([line(column(0, 1, 2), column(1, 2, 3), { name: `<b>"&` })]);
  const svg = svgOf(scene, "a < b");
  expect(svg).toContain("<title>a &lt; b</title>");
  expect(svg).toContain('aria-label="&lt;b&gt;&quot;&amp;"');
  const [path] = of(scene.inside, "path");
  expect(svg).toContain(`d="M${Math.round(path!.points[0]! * 100) / 100} `);
  expect(svg).not.toContain("NaN");
});

describe("a CSV file", () => {
  test("has exactly the points in view with all digits", () => {
    const lines = [
      line(column(0, 1, 2, 3), column(0.1 + 0.2, 2, 3, 4)),
      line(column(1, 9), column(5, 6), {
        id: "b",
        name: 'se"c, ond',
        low: column(4, 5),
        high: column(6, 7),
        count: column(3, 1),
      }),
    ];
    expect(csvOf(lines, [0, 2], { xName: "step", yName: "loss" })).toBe(
      [
        "id,name,step,loss,low,high,count",
        "a,first,0,0.30000000000000004,,,",
        "a,first,1,2,,,",
        "a,first,2,3,,,",
        'b,"se""c, ond",1,5,4,6,3',
        "",
      ].join("\r\n"),
    );
  });

  test("marks which points of forks are their parents'", () => {
    const x = column(0, 1, 2);
    const lines = [line(x, x, { step: x, forkStep: 1 }), line(column(1), column(5), { id: "b", name: "other" })];
    const rows = csvOf(lines, [0, 9], { xName: "step", yName: "loss" }).trim().split("\r\n");
    expect(rows).toEqual([
      "id,name,step,loss,inherited",
      "a,first,0,0,true",
      "a,first,1,1,true",
      "a,first,2,2,false",
      "b,other,1,5,false",
    ]);
  });

  test("has no text that a spreadsheet takes for a formula", () => {
    const named = line(column(0), column(-1), { id: "a", name: " =1+1" });
    expect(csvOf([named], [0, 0], { xName: "@step", yName: "-loss" })).toBe(
      "id,name,'@step,'-loss\r\na,' =1+1,0,-1\r\n",
    );
  });
});

test("the nearest point is found, be its value finite or not", () => {
  const one = line(column(0, 10, 20), column(1, Number.NaN, 3));
  expect([-5, 4, 9, 11, 50].map((at) => nearestAt(one, at))).toEqual([0, 0, 1, 1, 2]);
  expect(nearestAt(line(column(), column()), 1)).toBe(-1);
});

test("a table has evenly chosen rows and says what it leaves out", () => {
  const x = Float64Array.from({ length: 1000 }, (_, i) => i);
  const { rows, left } = rowsOf([line(x, x)], undefined);
  expect(rows.length).toBeLessThanOrEqual(201);
  expect(rows.at(-1)).toEqual({ x: 999, values: ["999"] });
  expect(left).toBe("This shows every 5th row. The CSV file has all.");
  const both = rowsOf([line(column(1, 2), column(3, 4)), line(column(2), column(5))], [2, 3]);
  expect(both).toMatchObject({ rows: [{ x: 2, values: ["4", "5"] }], left: "" });
});
