import type { Range, Scale } from "../scene/scale.ts";
import type { Box } from "../scene/scene.ts";

/** A drag of a pointer over a chart. */
export type Drag = {
  readonly axis: "x" | "y";
  readonly from: number;
  readonly to: number;
};

/** Shorter drags are clicks. */
const DRAG_PIXELS_MIN = 5;

/** Returns the drag between two places; undefined for a click. Sideways unless shift is held, which means up and down. */
export function dragOf(
  begin: { readonly x: number; readonly y: number },
  now: { readonly x: number; readonly y: number },
  shift: boolean,
  plot: Box,
): Drag | undefined {
  const [from, to] = shift ? [begin.y, now.y] : [begin.x, now.x];
  if (Math.abs(to - from) < DRAG_PIXELS_MIN) return undefined;
  const [low, high] = shift ? [plot.top, plot.top + plot.height] : [plot.left, plot.left + plot.width];
  const within = (pixel: number): number => Math.min(Math.max(pixel, low), high);
  return { axis: shift ? "y" : "x", from: within(from), to: within(to) };
}

/** Returns the range of an axis between two pixels; undefined if it is too short for numbers. */
export function rangeBetween(scale: Scale, from: number, to: number): Range | undefined {
  const ends = [scale.toValue(from), scale.toValue(to)].toSorted((a, b) => a - b);
  const [low, high] = [ends[0]!, ends[1]!];
  return Number.isFinite(low) && Number.isFinite(high) && low < high ? [low, high] : undefined;
}

/** Returns a range that is `factor` times as long around the value at a pixel; below 1 zooms in. */
export function zoomedAround(scale: Scale, pixel: number, factor: number): Range | undefined {
  const [from, to] = scale.pixels;
  return rangeBetween(scale, pixel + (from - pixel) * factor, pixel + (to - pixel) * factor);
}

/** Returns the range that a pinch of two fingers leads to: what was under each finger is under it again. */
export function pinched(
  scale: Scale,
  begin: readonly [number, number],
  now: readonly [number, number],
): Range | undefined {
  const span = now[1] - now[0];
  if (Math.abs(span) < DRAG_PIXELS_MIN || Math.abs(begin[1] - begin[0]) < DRAG_PIXELS_MIN) return undefined;
  const factor = (begin[1] - begin[0]) / span;
  const back = (pixel: number): number => begin[0] + (pixel - now[0]) * factor;
  return rangeBetween(scale, back(scale.pixels[0]), back(scale.pixels[1]));
}
