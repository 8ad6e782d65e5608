import { text } from "../scene/axes-shapes.ts";
import { scaleOf, type Range, type Scale } from "../scene/scale.ts";
import { CHARACTER_PIXELS, type Inks, type Shape } from "../scene/scene.ts";
import { linearTicks } from "../scene/ticks.ts";

/** Pixels that the axis takes below the data: its numbers, and its name where it has one. */
export const AXIS_PIXELS = { numbers: 24, name: 14 } as const;

const TICKS_APART = 64;

/** Where data lies, in pixels. */
export type Sides = { readonly left: number; readonly right: number; readonly top: number; readonly bottom: number };

/** Returns a horizontal axis of values below the data, with a line through the data at each of its numbers. */
export function valueAxis(
  domain: Range,
  { left, right, top, bottom }: Sides,
  name: string | undefined,
  inks: Inks,
): { readonly x: Scale; readonly shapes: readonly Shape[] } {
  const x = scaleOf(domain, [left, right]);
  const wanted = Math.min(8, Math.max(3, Math.floor((right - left) / TICKS_APART)));
  const shapes: Shape[] = [];
  let free = -Infinity;
  for (const { value, label } of linearTicks(domain, wanted)) {
    const at = x.toPixel(value);
    const half = (CHARACTER_PIXELS * label.length) / 2;
    shapes.push(thinLine([at, top, at, bottom], inks.rule));
    if (at - half < free) continue;
    free = at + half + 8;
    shapes.push(text(label, at, bottom + 16, "middle", inks.faint));
  }
  shapes.push(thinLine([left, bottom, right, bottom], inks.faint));
  if (name !== undefined)
    shapes.push(text(name, (left + right) / 2, bottom + AXIS_PIXELS.numbers + 8, "middle", inks.faint));
  return { x, shapes };
}

/** Returns a thin line as a shape: pairs x, y; a pair of NaN ends a piece. */
export const thinLine = (points: readonly number[], stroke: string): Shape => ({
  kind: "path",
  points: Float64Array.from(points),
  stroke,
  width: 1,
  dash: [],
  alpha: 1,
});
