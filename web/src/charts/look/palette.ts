/** The two themes of the page. */
export type ThemeName = "light" | "dark";

/**
 * Colors of lines, at the same place the same hue in both themes, in the order in which they are given. Each has a contrast of 3 to the surface of
 * cards. Any two can be distinguished, the first eight also with every common kind of color vision; patterns distinguish the rest for everyone. The
 * style sheets have them as `--tm-run-0` and so on.
 */
export const PALETTE: Readonly<Record<ThemeName, readonly string[]>> = {
  light: [
    "#4248fe",
    "#d34d36",
    "#107b61",
    "#8e3e8f",
    "#5a079b",
    "#c67e00",
    "#0396db",
    "#961734",
    "#633500",
    "#639b52",
    "#00535d",
    "#9376fd",
    "#0e2b69",
    "#d25e91",
    "#696200",
    "#60073a",
  ],
  dark: [
    "#6994fd",
    "#faaa49",
    "#a0cc8c",
    "#fa3b9d",
    "#833bfb",
    "#ffe802",
    "#80f3fe",
    "#dc2b1f",
    "#93644c",
    "#e1fe83",
    "#018a88",
    "#d6acf6",
    "#7363ee",
    "#fdb5c5",
    "#b19c51",
    "#b0466c",
  ],
};

/** Names of the colors, for people who choose one without seeing it. */
export const COLOR_NAMES: readonly string[] = [
  "Blue",
  "Orange",
  "Green",
  "Magenta",
  "Violet",
  "Gold",
  "Sky",
  "Red",
  "Brown",
  "Lime",
  "Teal",
  "Lilac",
  "Indigo",
  "Pink",
  "Olive",
  "Wine",
];

/** The color of what has no line. */
export const NO_COLOR: Readonly<Record<ThemeName, string>> = { light: "#8b979e", dark: "#73828a" };

/** Lengths of dashes and gaps in pixels; the first is a solid line. */
export const DASHES: readonly (readonly number[])[] = [
  [],
  [8, 3],
  [2, 3],
  [10, 3, 2, 3],
  [5, 5],
  [16, 4],
  [10, 3, 2, 3, 2, 3],
];

/** Places in the lists of colors and dashes. */
export type LookPlace = { readonly color: number; readonly dash: number };

/**
 * Returns the look at a place from 0 on. Lines are solid while there are colors; with patterns, neighbors differ in their dashes, too. The first 112
 * differ either way, because the numbers of colors and of dashes have no common divisor.
 */
export function lookAt(place: number, patterns: boolean): LookPlace {
  const colors = PALETTE.light.length;
  return {
    color: place % colors,
    dash: (patterns ? place : Math.floor(place / colors)) % DASHES.length,
  };
}

/** Returns the place of the look with a color and a dash, where lines are solid while there are colors. */
export function placeOfLook({ color, dash }: LookPlace): number {
  return color + PALETTE.light.length * dash;
}

/** Returns a color of one theme as the other one has it; colors that are not of the palette stay. */
export function inTheme(color: string, theme: ThemeName): string {
  for (const colors of Object.values(PALETTE)) {
    const place = colors.indexOf(color);
    if (place >= 0) return PALETTE[theme][place]!;
  }
  return color;
}
