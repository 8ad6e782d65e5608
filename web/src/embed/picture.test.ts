import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { PALETTE } from "../charts/look/palette.ts";
import { linesOf, nearestReading, pictureOf, strokeOf, summaryOf } from "./picture.ts";
import type { Point, ShownRun } from "./view.ts";

const points = (...values: readonly (number | null)[]): Point[] => values.map((value, step) => ({ step, value }));
const runs: readonly ShownRun[] = ["first", "second"].map((name, i) => ({ id: String(i), name, status: "running" }));
const lines = (...all: readonly Point[][]) =>
  linesOf({ key: "loss", lines: all.map((of, run) => ({ run, points: of })), isPartial: false }, runs, false);

test("lines are named by their runs, and end at points without a value", () => {
  const [line] = lines(points(1, null, 3, 4));
  expect(line).toMatchObject({ id: "0", name: "first", dash: [], x: Float64Array.of(0, 1, 2, 3) });
  const { scene, notes } = pictureOf([line!], 400, undefined)!;
  const mine = scene.inside.flatMap((shape) => ("line" in shape ? [[shape.line, shape.kind, shape.label]] : []));
  expect(mine).toEqual([
    ["0", "path", "first"],
    ["0", "dots", "first"],
    ["0", "path", "first, values that are not finite"],
  ]);
  expect(notes).toEqual(["1 value is not finite, marked ×"]);
});

test("without values there is no picture", () => {
  expect(pictureOf(lines(), 400, undefined)).toBeUndefined();
  expect(pictureOf(lines([], points(null)), 400, undefined)).toBeUndefined();
});

test("a picture is described by what has a value", () => {
  expect(summaryOf("loss", lines(points(null, 5, -1), points(3)))).toBe("loss: 2 runs, steps 0 to 2, values -1 to 5");
  expect(summaryOf("acc", lines(points(0.5)))).toBe("acc: 1 run, steps 0 to 0, values 0.5 to 0.5");
});

test("the nearest point is found among all lines, gaps passed over", () => {
  const shown = lines(points(0, 0, 0), points(null, -9, null));
  const picture = pictureOf(shown, 400, undefined)!;
  const readAt = (step: number, value: number) => {
    const found = nearestReading(shown, picture, { left: picture.x.toPixel(step), top: picture.y.toPixel(value) });
    return [found?.line.name, found?.x, found?.value];
  };
  expect(readAt(1.1, -8)).toEqual(["second", 1, -9]);
  expect(readAt(1.9, -1)).toEqual(["first", 2, 0]);
});

const style = readFileSync(join(import.meta.dirname, "style.css"), "utf8");

test("each of 100 runs has a look of its own, the first ones solid, in the colors of the dashboard", () => {
  const strokes = Array.from({ length: 100 }, (_, place) => strokeOf(place, false));
  expect(new Set(strokes.map(({ color, dash }) => `${color} ${dash}`)).size).toBe(100);
  expect(strokes.slice(0, 16).every(({ dash }) => dash === "none")).toBe(true);
  const patterned = Array.from({ length: 7 }, (_, place) => strokeOf(place, true));
  expect(new Set(patterned.map(({ dash }) => dash)).size).toBe(7);
  expect(patterned.map(({ color }) => color)).toEqual(strokes.slice(0, 7).map(({ color }) => color));
  const declared = [...style.matchAll(/\.c\d+ \{\s*--line: light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g)];
  expect(declared.map(([, light]) => light)).toEqual(PALETTE.light);
  expect(declared.map(([, , dark]) => dark)).toEqual(PALETTE.dark);
});
