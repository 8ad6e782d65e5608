import { expect, test } from "@jest/globals";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CONTRAST_MIN, DIFFERENCE_MIN, luminance, seen, visions } from "../charts/look/color-vision.fixture.ts";
import { strokeOf } from "./stroke.ts";

const style = readFileSync(join(import.meta.dirname, "style.css"), "utf8");
const runs = Array.from({ length: 100 }, (_, place) => strokeOf(place));

test("each of 100 runs has a look of its own, the first ones without gaps", () => {
  expect(new Set(runs.map(({ color, dash }) => `${color} ${dash}`)).size).toBe(100);
  expect(runs.slice(0, 6).every(({ dash }) => dash === "none")).toBe(true);
});

const declared = [...style.matchAll(/\.c\d \{\s*--line: light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g)];
const backgrounds = /--page: light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/.exec(style)!;

test("the style sheet has the colors of all runs", () => {
  expect(declared).toHaveLength(new Set(runs.map(({ color }) => color)).size);
});

test.each([
  ["light", 1],
  ["dark", 2],
])("on the %s page the colors stand out and can be distinguished with every kind of color vision", (_, at) => {
  const colors = declared.map((found) => found[at]!);
  for (const color of colors) {
    const [dark = 0, light = 0] = [luminance(color), luminance(backgrounds[at]!)].toSorted((a, b) => a - b);
    expect((light + 0.05) / (dark + 0.05)).toBeGreaterThanOrEqual(CONTRAST_MIN);
  }
  for (const vision of Object.values(visions)) {
    const looks = colors.map((color) => seen(color, vision));
    looks.forEach((look, i) => {
      for (const other of looks.slice(0, i)) {
        expect(Math.hypot(...look.map((part, k) => part - other[k]!))).toBeGreaterThanOrEqual(DIFFERENCE_MIN);
      }
    });
  }
});
