import { describe, expect, test } from "@jest/globals";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CONTRAST_MIN, DIFFERENCE_MIN, seen, visions, WEAK_DIFFERENCE_MIN } from "./color-vision.fixture.ts";
import { contrast } from "./contrast.ts";
import { COLOR_NAMES, inTheme, lookAt, NO_COLOR, PALETTE, placeOfLook, type ThemeName } from "./palette.ts";

const read = (path: string): string => readFileSync(join(import.meta.dirname, path), "utf8");
const tokens = read("../../styles/tokens.css");
const style = read("../charts.css");
const embed = read("../../embed/style.css");

/** Returns the declarations of a style sheet for a theme; the dark one has its own block. */
function declared(css: string, theme: ThemeName, name: RegExp): string[] {
  const dark = css.indexOf('[data-theme="dark"]');
  const part = theme === "dark" ? css.slice(dark) : css.slice(0, dark);
  return [...part.matchAll(new RegExp(`${name.source}: (#[0-9a-f]{6})`, "g"))].map((found) => found[1]!);
}

describe.each(["light", "dark"] as const)("colors of lines in the %s theme", (theme) => {
  const colors = PALETTE[theme];

  test("are those of the style sheet, each with a name", () => {
    expect(declared(style, theme, /--tm-run-\d+/)).toEqual(colors);
    expect(declared(style, theme, /--tm-run-none/)).toEqual([NO_COLOR[theme]]);
    expect(COLOR_NAMES).toHaveLength(colors.length);
  });

  test("stand out from cards, in embedded views as well", () => {
    const [surface] = declared(tokens, theme, /--surface/);
    const cards = /--card: light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/.exec(embed)!;
    for (const ground of [surface!, cards[theme === "light" ? 1 : 2]!])
      for (const color of [...colors, NO_COLOR[theme]])
        expect(contrast(color, ground)).toBeGreaterThanOrEqual(color === NO_COLOR[theme] ? 2.5 : CONTRAST_MIN);
  });

  test.each(Object.entries(visions))("can be distinguished with %s color vision", (name, vision) => {
    const looks = colors.map((color) => seen(color, vision));
    looks.forEach((look, i) => {
      const least = name === "usual" ? DIFFERENCE_MIN : WEAK_DIFFERENCE_MIN[i < 8 ? "first" : "any"];
      for (const other of looks.slice(0, i))
        expect(Math.hypot(...look.map((part, k) => part - other[k]!))).toBeGreaterThanOrEqual(least);
    });
  });
});

test.each([false, true])("more than 100 looks differ (with patterns: %s)", (patterns) => {
  const looks = Array.from({ length: 112 }, (_, place) => lookAt(place, patterns));
  expect(new Set(looks.map(({ color, dash }) => `${color} ${dash}`)).size).toBe(112);
  expect(looks.slice(0, 16).map(({ color }) => color)).toEqual(Array.from({ length: 16 }, (_, i) => i));
  expect(looks.slice(0, 7).map(({ dash }) => dash)).toEqual(patterns ? [0, 1, 2, 3, 4, 5, 6] : Array(7).fill(0));
  if (!patterns) expect(looks.map(placeOfLook)).toEqual(looks.map((_, place) => place));
});

test("a color of one theme has its hue in the other, and a person's own color stays", () => {
  expect(inTheme(PALETTE.dark[3]!, "light")).toBe(PALETTE.light[3]);
  expect(inTheme(PALETTE.light[3]!, "light")).toBe(PALETTE.light[3]);
  expect(inTheme("#123456", "light")).toBe("#123456");
});
