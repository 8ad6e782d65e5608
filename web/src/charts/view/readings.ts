import { nearestAt, type Line } from "../scene/line-model.ts";
import type { Scale } from "../scene/scale.ts";

/** A value at the crosshair. */
export type Reading = {
  readonly line: Line;
  readonly place: number;
  readonly x: number;
  /** The smoothed value where there is one. */
  readonly value: number;
  readonly left: number;
  readonly top: number;
};

/** Points farther from the crosshair than this are not read. */
const REACH_PIXELS = 24;

/** Returns what lines have at a place of the axis, or up to `reach` pixels from it, the highest first. */
export function readingsAt(lines: readonly Line[], at: number, x: Scale, y: Scale, reach = REACH_PIXELS): Reading[] {
  const crosshair = x.toPixel(at);
  return lines
    .flatMap((line): Reading[] => {
      const place = nearestAt(line, at);
      if (place < 0) return [];
      const left = x.toPixel(line.x[place]!);
      if (!(Math.abs(left - crosshair) <= reach)) return [];
      const value = line.smoothed?.[place] ?? line.y[place]!;
      return [{ line, place, x: line.x[place]!, value, left, top: y.toPixel(value) }];
    })
    .toSorted((a, b) => b.value - a.value);
}

/** Returns the reading that is nearest to a height in pixels. */
export function nearestReading(readings: readonly Reading[], top: number | undefined): Reading | undefined {
  if (top === undefined) return undefined;
  let nearest: Reading | undefined;
  for (const one of readings)
    if (Number.isFinite(one.top) && (nearest === undefined || Math.abs(one.top - top) < Math.abs(nearest.top - top)))
      nearest = one;
  return nearest;
}

/** Returns the readings to list: at most `most`, around the nearest one, still the highest first. */
export function listed(readings: readonly Reading[], nearest: Reading | undefined, most: number): readonly Reading[] {
  if (readings.length <= most) return readings;
  const middle = nearest === undefined ? 0 : readings.indexOf(nearest);
  const from = Math.min(Math.max(0, middle - Math.floor(most / 2)), readings.length - most);
  return readings.slice(from, from + most);
}
