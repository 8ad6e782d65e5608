import { describe, expect, test } from "@jest/globals";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { hashOf, lookIndex } from "./hash.ts";
import { readLooks } from "./own-looks.ts";
import { DASHES, PALETTE, type ThemeName } from "./palette.ts";

const read = (path: string): string => readFileSync(join(import.meta.dirname, path), "utf8");
const tokens = read("../../styles/tokens.css");
const style = read("../charts.css");

/** Returns the declarations of a style sheet for a theme; the dark one has its own block. */
function declared(css: string, theme: ThemeName, name: RegExp): string[] {
  const dark = css.indexOf('[data-theme="dark"]');
  const part = theme === "dark" ? css.slice(dark) : css.slice(0, dark);
  return [...part.matchAll(new RegExp(`${name.source}: (#[0-9a-f]{6})`, "g"))].map((found) => found[1]!);
}

/** How people see who lack one kind of cones (Machado, Oliveira and Fernandes 2009, severity 1), on linear RGB. */
const visions: Readonly<Record<string, readonly (readonly number[])[]>> = {
  usual: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

function linear(color: string): number[] {
  return [1, 3, 5].map((at) => {
    const share = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
}
const weighed = (rgb: readonly number[], weights: readonly number[]): number =>
  weights.reduce((sum, weight, i) => sum + weight * rgb[i]!, 0);
const luminance = (color: string): number => weighed(linear(color), [0.2126, 0.7152, 0.0722]);

/** CIE L*a*b* of a color as seen with a kind of color vision. */
function seen(color: string, vision: readonly (readonly number[])[]): number[] {
  const rgb = vision.map((row) => Math.min(1, Math.max(0, weighed(linear(color), row))));
  const root = (share: number): number => (share > 0.008856 ? Math.cbrt(share) : 7.787 * share + 16 / 116);
  const x = root(weighed(rgb, [0.4124, 0.3576, 0.1805]) / 0.9505);
  const y = root(weighed(rgb, [0.2126, 0.7152, 0.0722]));
  const z = root(weighed(rgb, [0.0193, 0.1192, 0.9505]) / 1.089);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/** Differences above 20 are plain to see also in thin lines. */
const DIFFERENCE_MIN = 25;
/** Of graphical objects to adjacent colors (WCAG 2.2, 1.4.11). */
const CONTRAST_MIN = 3;

describe.each(["light", "dark"] as const)("colors of runs in the %s theme", (theme) => {
  const colors = PALETTE[theme];

  test("are those of the style sheet", () => {
    expect(declared(style, theme, /--tm-run-\d/)).toEqual(colors);
  });

  test("stand out from cards", () => {
    const [surface] = declared(tokens, theme, /--surface/);
    for (const color of colors) {
      const [dark = 0, light = 0] = [luminance(color), luminance(surface!)].toSorted((a, b) => a - b);
      expect((light + 0.05) / (dark + 0.05)).toBeGreaterThanOrEqual(CONTRAST_MIN);
    }
  });

  test.each(Object.entries(visions))("can be distinguished with %s", (_name, vision) => {
    const looks = colors.map((color) => seen(color, vision));
    looks.forEach((look, i) => {
      for (const other of looks.slice(0, i))
        expect(Math.hypot(...look.map((part, k) => part - other[k]!))).toBeGreaterThanOrEqual(DIFFERENCE_MIN);
    });
  });
});

test("a look follows from the id alone, and ids that differ in a digit spread over all looks", () => {
  const ids = Array.from({ length: 3000 }, (_, i) => `0c9b0000-0000-4000-8000-${String(i).padStart(12, "0")}`);
  const counts = Map.groupBy(ids.map(lookIndex), ({ color, dash }) => `${color} ${dash}`);
  expect(counts.size).toBe(PALETTE.light.length * DASHES.length);
  // 100 of each are expected; six standard deviations of chance.
  for (const found of counts.values()) expect(Math.abs(found.length - 100)).toBeLessThan(60);
  expect(lookIndex(ids[0]!.toUpperCase())).toEqual(lookIndex(ids[0]!));
  expect(hashOf("")).toBe(hashOf(""));
});

test("of stored looks what is not in the right form is left out", () => {
  expect(readLooks(null)).toEqual([]);
  expect(readLooks("{")).toEqual([]);
  expect(readLooks('{"a":1}')).toEqual([]);
  const stored = [
    ["a", { color: "#12AB34", dash: 1 }],
    ["b", { color: "red", dash: 99, place: 2 }],
    ["c"],
    3,
    ["d", null],
  ];
  expect(readLooks(JSON.stringify(stored))).toEqual([
    ["a", { color: "#12AB34", dash: 1 }],
    ["b", { place: 2 }],
  ]);
});
