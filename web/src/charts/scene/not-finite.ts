import { lowerBound, type Line } from "./line-model.ts";
import { counted } from "./numbers.ts";
import type { Scale } from "./scale.ts";
import type { Box, Shape } from "./scene.ts";

/** How many values are NaN or infinite, and whether any is known to be infinite: of buckets only the number is known. */
export type NotFinite = { readonly count: number; readonly isAbove: boolean; readonly isBelow: boolean };

/** Returns how many values of a point or bucket are NaN or infinite. */
export function notFiniteAt({ y, nonFinite }: Pick<Line, "y" | "nonFinite">, i: number): number {
  if (nonFinite !== undefined) return nonFinite[i]!;
  return Number.isFinite(y[i]!) ? 0 : 1;
}

/** Counts the values between two places of a line. */
export function notFiniteIn(line: Pick<Line, "y" | "nonFinite">, from: number, end: number): NotFinite {
  let [count, isAbove, isBelow] = [0, false, false];
  for (let i = from; i < end; i++) {
    const found = notFiniteAt(line, i);
    if (found === 0) continue;
    count += found;
    isAbove ||= line.y[i] === Infinity;
    isBelow ||= line.y[i] === -Infinity;
  }
  return { count, isAbove, isBelow };
}

/** Describes the marks that a chart has. Empty without any. */
export function notFiniteNote({ count, isAbove, isBelow }: NotFinite): string {
  if (count === 0) return "";
  const infinite = [isAbove ? "∧ for Infinity" : "", isBelow ? "∨ for -Infinity" : ""].filter((part) => part !== "");
  return `${counted(count, "value is", "values are")} not finite, marked ${["×", ...infinite].join(", ")}`;
}

const MARK = { half: 3, height: 6, apart: 4 } as const;

/** A mark of each kind: pairs of distances from the middle and from the edge of the plot. */
const MARKS = {
  above: [-MARK.half, MARK.height, 0, 0, MARK.half, MARK.height],
  below: [-MARK.half, -MARK.height, 0, 0, MARK.half, -MARK.height],
  cross: [
    -MARK.half,
    -MARK.height - 1,
    MARK.half,
    -1,
    Number.NaN,
    Number.NaN,
    -MARK.half,
    -1,
    MARK.half,
    -MARK.height - 1,
  ],
} as const;

/**
 * Returns the marks of points and buckets with values that are not finite: for Infinity at the upper edge of the plot, for -Infinity at the lower one, and
 * a cross on the x axis for NaN and for buckets. Of marks of one kind that would cover each other, the first is drawn.
 */
export function notFiniteMarks(lines: readonly Line[], x: Scale, { top, height }: Box): Shape[] {
  return lines.flatMap((line): Shape[] => {
    const points: number[] = [];
    const last = { above: -Infinity, below: -Infinity, cross: -Infinity };
    const { id, name, color, x: xs, y } = line;
    for (let i = lowerBound(xs, x.domain[0]); i < xs.length && xs[i]! <= x.domain[1]; i++) {
      if (notFiniteAt(line, i) === 0) continue;
      const kind = y[i] === Infinity ? "above" : y[i] === -Infinity ? "below" : "cross";
      const left = x.toPixel(xs[i]!);
      if (left - last[kind] < MARK.apart) continue;
      last[kind] = left;
      const edge = kind === "above" ? top : top + height;
      MARKS[kind].forEach((distance, k) => points.push(distance + (k % 2 === 0 ? left : edge)));
      points.push(Number.NaN, Number.NaN);
    }
    if (points.length === 0) return [];
    const label = `${name}, values that are not finite`;
    return [
      {
        kind: "path",
        points: Float64Array.from(points),
        stroke: color,
        width: 1.5,
        dash: [],
        alpha: 1,
        line: id,
        label,
      },
    ];
  });
}
