import { lowerBound } from "../scene/line-model.ts";
import type { Range } from "../scene/scale.ts";
import type { Series, XAxis } from "./series.ts";

/**
 * Returns the steps that a zoomed range of an axis covers, so that the server can sample inside it. On other axes than steps they are looked up in what
 * is known: the least and the most step of the points in the range and of their neighbors. Undefined where nothing is known of it.
 */
export function stepsWithin(zoom: Range, axis: XAxis, known: readonly Series[]): readonly [number, number] | undefined {
  if (axis === "step") return [Math.max(0, zoom[0]), Math.max(0, zoom[1])];
  let [low, high] = [Infinity, -Infinity];
  for (const { x, step } of known) {
    const from = Math.max(0, lowerBound(x, zoom[0]) - 1);
    const to = Math.min(x.length, lowerBound(x, zoom[1]) + 1);
    for (let i = from; i < to; i++) {
      low = Math.min(low, step[i]!);
      high = Math.max(high, step[i]!);
    }
  }
  return low <= high ? [low, high] : undefined;
}
