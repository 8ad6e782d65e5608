/** The two themes of the page. */
export type ThemeName = "light" | "dark";

/**
 * Colors of runs, at the same place the same hue in both themes: each has a contrast of 3 to the surface of cards, and any two can be distinguished
 * with every common kind of color vision. More than six cannot; dashes distinguish the rest. The style sheet has them as `--tm-run-0` and so on.
 */
export const PALETTE: Readonly<Record<ThemeName, readonly string[]>> = {
  light: ["#2b3fe0", "#f0541e", "#1f9e86", "#b96cf0", "#7a1208", "#3b1550"],
  dark: ["#8f6bff", "#c77a1a", "#2fa58a", "#f2b3fb", "#d9ef3a", "#66f5ae"],
};

/** Lengths of dashes and gaps in pixels; none is a line without gaps. */
export const DASHES: readonly (readonly number[])[] = [[], [8, 3], [2, 3], [10, 3, 2, 3], [5, 5]];
