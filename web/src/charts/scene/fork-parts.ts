import { isInherited, type Line } from "./line-model.ts";
import type { Scale } from "./scale.ts";

/** Returns a column without the parent's part, so that the line begins with the fork. */
export function ownPart(line: Line, ys: Float64Array): Float64Array {
  return line.forkStep === undefined ? ys : ys.map((value, i) => (isInherited(line, i) ? Number.NaN : value));
}

/** Returns the parent's part of a column of a fork, up to the first own point, so that both parts meet there. */
export function inheritedPart(line: Line, ys: Float64Array): Float64Array {
  return ys.map((value, i) => (isInherited(line, i) || (i > 0 && isInherited(line, i - 1)) ? value : Number.NaN));
}

/** Returns where the last point of the parent's part lies, if it is in view. */
export function forkPlace(line: Line, ys: Float64Array, x: Scale, y: Scale): Float64Array {
  let last = -1;
  for (let i = 0; i < ys.length; i++)
    if (isInherited(line, i) && (last < 0 || line.step![i]! >= line.step![last]!)) last = i;
  if (last < 0) return new Float64Array();
  const place = Float64Array.of(x.toPixel(line.x[last]!), y.toPixel(ys[last]!));
  return place.every(Number.isFinite) ? place : new Float64Array();
}
