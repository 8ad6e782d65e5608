import { describe, expect, test } from "@jest/globals";
import { parallelScene } from "./parallel-scene.ts";
import { rampColor } from "./scale.ts";
import { pointAt, scatterScene } from "./scatter-scene.ts";

const inks = { surface: "#ffffff", ink: "#000000", faint: "#666666", rule: "#dddddd" };
const size = { width: 500, height: 300 };

describe("points of runs", () => {
  const run = (id: string, x: number | null, y: number | null, by: number | null = null) => ({
    id,
    name: id,
    color: "#123456",
    x,
    y,
    by,
  });
  const axes = { xLabel: "lr", yLabel: "loss", xLog: false, yLog: false };

  test("lie where their values are; runs that miss one are counted", () => {
    const scene = scatterScene([run("a", 1, 1), run("b", 2, 5), run("c", null, 3)], axes, size, inks)!;
    expect(scene.points.map(({ run: { id } }) => id)).toEqual(["a", "b"]);
    expect(scene.notes).toEqual(["1 run without both values"]);
    const { left, top } = scene.points[1]!;
    expect(pointAt(scene, left + 3, top - 3)?.id).toBe("b");
    expect(pointAt(scene, left + 30, top)).toBeUndefined();
    expect(scatterScene([run("c", null, 3)], axes, size, inks)).toBeUndefined();
  });

  test("not above 0 are counted by logarithmic axes", () => {
    const scene = scatterScene(
      [run("a", 1, 1), run("b", 0, 5), run("c", 2, -1)],
      { ...axes, xLog: true, yLog: true },
      size,
      inks,
    )!;
    expect(scene.points).toHaveLength(1);
    expect(scene.notes).toEqual(["2 runs not above 0 left out by a logarithmic axis"]);
  });

  test("are colored by a third column, or gray without it", () => {
    const { scene, legend } = scatterScene(
      [run("a", 1, 1, 0), run("b", 2, 2, 9), run("c", 3, 3)],
      { ...axes, byLabel: "depth" },
      size,
      inks,
    )!;
    expect(scene.inside.map((shape) => shape.kind === "dots" && shape.fill)).toEqual([
      rampColor(0),
      rampColor(1),
      inks.faint,
    ]);
    expect(legend).toEqual([
      { name: "depth: 0", color: rampColor(0) },
      { name: "depth: 9", color: rampColor(1) },
      { name: "depth: none", color: inks.faint },
    ]);
  });

  test("are named by a legend where each has its own color", () => {
    const { legend } = scatterScene([run("a", 1, 1), run("b", 2, 5), run("c", null, 3)], axes, size, inks)!;
    expect(legend).toEqual(["a", "b"].map((name) => ({ name, color: "#123456" })));
  });
});

describe("parallel coordinates", () => {
  const columns = [{ name: "lr", log: true }, { name: "optimizer" }, { name: "loss" }];
  const runs = [
    { id: "a", name: "a", values: [0.1, "adam", 1] },
    { id: "b", name: "b", values: [0.01, "sgd", 2] },
    { id: "c", name: "c", values: [null, "adam", 3] },
  ];

  test("have a line for each run, broken where a value is missing", () => {
    const { scene, selected, axes } = parallelScene(columns, runs, new Map(), size, inks);
    expect(selected).toEqual(["a", "b", "c"]);
    expect(axes.map(({ place }, i) => place([0.1, "adam", 3][i]!))).toEqual([
      axes[0]!.top,
      axes[1]!.bottom,
      axes[2]!.top,
    ]);
    const paths = scene.inside.flatMap((shape) => (shape.kind === "path" ? [shape.points] : []));
    expect(paths.map((points) => points.some(Number.isNaN))).toEqual([false, false, true]);
  });

  test.each([
    ["numbers", [1, 2, 3], { "loss: 1": 0, "loss: 3": 2 }],
    ["one number", [2, 2, null], { "loss: 2": 0, "loss: none": 2 }],
    ["texts", ["b", "a", 3], { "loss: 3": 2, "loss: a": 1, "loss: b": 0 }],
    ["nothing", [null, null, null], {}],
  ] as const)("have a legend of the colors of the last column: %s", (_what, values, places) => {
    const some = values.map((value, i) => ({ id: String(i), name: "x", values: [0, value] }));
    const { scene, legend } = parallelScene([{ name: "lr" }, { name: "loss" }], some, new Map(), size, inks);
    const strokes = scene.inside.map((shape) => shape.kind === "path" && shape.stroke);
    expect(legend).toEqual(Object.entries(places).map(([name, i]) => ({ name, color: strokes[i] })));
  });

  test("select the runs that pass all brushes", () => {
    const { axes } = parallelScene(columns, runs, new Map(), size, inks);
    const { top, bottom } = axes[2]!;
    const half = (top + bottom) / 2;
    const select = (...brushes: [string, readonly [number, number]][]): readonly string[] =>
      parallelScene(columns, runs, new Map(brushes), size, inks).selected;
    expect(select(["loss", [top, half]])).toEqual(["b", "c"]);
    expect(select(["loss", [half, bottom]], ["optimizer", [bottom - 2, bottom]])).toEqual(["a"]);
    expect(select(["lr", [top, bottom]])).toEqual(["a", "b"]);
  });
});
