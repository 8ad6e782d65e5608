import { describe, expect, test } from "@jest/globals";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CONTRAST_MIN, DIFFERENCE_MIN, luminance, seen, visions } from "./color-vision.fixture.ts";
import { DASHES, hashOf, lookIndex, PALETTE, readLooks, type ThemeName } from "./run-look.ts";

const read = (path: string): string => readFileSync(join(import.meta.dirname, path), "utf8");
const tokens = read("../../styles/tokens.css");
const style = read("../charts.css");

/** Returns the declarations of a style sheet for a theme; the dark one has its own block. */
function declared(css: string, theme: ThemeName, name: RegExp): string[] {
  const dark = css.indexOf('[data-theme="dark"]');
  const part = theme === "dark" ? css.slice(dark) : css.slice(0, dark);
  return [...part.matchAll(new RegExp(`${name.source}: (#[0-9a-f]{6})`, "g"))].map((found) => found[1]!);
}

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
