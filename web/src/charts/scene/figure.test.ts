import { expect, test } from "@jest/globals";
import { framed, lineFigure, PAPER } from "./figure.ts";
import type { Line } from "./line-model.ts";
import type { Shape } from "./scene.ts";
import { svgOf } from "./svg-element.ts";

const line = (name: string): Line => ({
  id: name,
  name,
  color: "#4248fe",
  dash: [],
  x: Float64Array.of(0, 100),
  y: Float64Array.of(1, 2),
});
const input = {
  axes: { x: { kind: "step", log: false }, y: { log: false, ignoreOutliers: false } },
  size: { width: 300, height: 220 },
  inks: PAPER,
} as const;
const words = { title: "val/loss", xLabel: "Step", yLabel: "val/loss" };
const texts = (shapes: readonly Shape[]): string[] =>
  shapes.flatMap((shape) => (shape.kind === "text" ? [shape.text] : []));

test("a figure has its title, the names of its axes and of its lines, with room for them", () => {
  const figure = lineFigure({ ...input, lines: [line("alpha"), line("beta")] }, words)!;
  const found = texts(figure.around);
  expect(found.filter((one) => one === "val/loss")).toHaveLength(2);
  expect(found).toEqual(expect.arrayContaining(["Step", "alpha", "beta"]));
  expect(figure.width).toBe(752);
  for (const shape of [...figure.around, ...figure.inside]) {
    if (shape.kind !== "path") continue;
    shape.points.forEach((part, i) => {
      expect(Number.isNaN(part) || (part >= 0 && part <= (i % 2 === 0 ? figure.width : figure.height))).toBe(true);
    });
  }
  const svg = svgOf(figure, "val/loss");
  expect(svg).toContain('fill="#ffffff"');
  expect(svgOf({ ...figure, background: "transparent" }, "val/loss")).not.toContain("100%");
  expect(lineFigure({ ...input, lines: [] }, words)).toBeUndefined();
});

test("a legend with many lines counts those that it does not name, and grows the figure", () => {
  const scene = lineFigure({ ...input, lines: [line("a")] }, words)!;
  const many = framed(
    scene,
    "many",
    PAPER,
    Array.from({ length: 100 }, (_, i) => line(`a run with a long name, number ${i}`)),
  );
  expect(texts(many.around)).toEqual(
    expect.arrayContaining(["a run with a long name, number 59", "and 40 more lines"]),
  );
  const dots = Array.from({ length: 62 }, (_, i) => ({ name: `run ${i}`, color: "#4248fe" }));
  const dotted = framed(scene, "dots", PAPER, dots);
  expect(texts(dotted.around)).toEqual(expect.arrayContaining(["run 59", "and 2 more"]));
  expect(dotted.around.filter((shape) => shape.kind === "dots" && shape.fill === "#4248fe")).toHaveLength(60);
  expect(many.height - framed(scene, "many", PAPER).height).toBe((60 / 3 + 1) * 18);
});
