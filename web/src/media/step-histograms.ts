import type { StepHistogram } from "../charts/kinds/bins.ts";
import { readHistogram } from "./histogram-bars.ts";
import type { RichObject } from "./steps.ts";

/** Returns the histograms among the objects of one key, by step: of each step the newest. Objects without a step are left out. */
export function histogramsOf(objects: readonly RichObject[]): readonly StepHistogram[] {
  const newest = new Map<number, RichObject>();
  for (const object of objects) {
    if (object.kind !== "histogram" || object.step === null) continue;
    const before = newest.get(object.step);
    if (before === undefined || object.id > before.id) newest.set(object.step, object);
  }
  return [...newest]
    .toSorted(([a], [b]) => a - b)
    .flatMap(([step, { value }]) => {
      const histogram = readHistogram(value);
      return histogram === undefined ? [] : [{ step, histogram }];
    });
}
