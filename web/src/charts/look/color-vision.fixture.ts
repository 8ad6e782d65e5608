import { linearParts } from "./contrast.ts";

/** What each kind of color vision makes of linear RGB: the usual one, and those without one kind of cones (Machado, Oliveira and Fernandes 2009, severity 1). */
export const visions: Readonly<Record<string, readonly (readonly number[])[]>> = {
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

const weighed = (rgb: readonly number[], weights: readonly number[]): number =>
  weights.reduce((sum, weight, i) => sum + weight * rgb[i]!, 0);

/** CIE L*a*b* of a color as seen with a kind of color vision. */
export function seen(color: string, vision: readonly (readonly number[])[]): number[] {
  const rgb = vision.map((row) => Math.min(1, Math.max(0, weighed(linearParts(color), row))));
  const root = (share: number): number => (share > 0.008856 ? Math.cbrt(share) : 7.787 * share + 16 / 116);
  const x = root(weighed(rgb, [0.4124, 0.3576, 0.1805]) / 0.9505);
  const y = root(weighed(rgb, [0.2126, 0.7152, 0.0722]));
  const z = root(weighed(rgb, [0.0193, 0.1192, 0.9505]) / 1.089);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/** The difference of two colors that are plain to see also in thin lines. */
export const DIFFERENCE_MIN = 25;
/** The same with a kind of color vision that has less: of the first eight colors, and of any two. */
export const WEAK_DIFFERENCE_MIN = { first: 18, any: 13 } as const;
/** Of graphical objects to adjacent colors (WCAG 2.2, 1.4.11). */
export const CONTRAST_MIN = 3;
