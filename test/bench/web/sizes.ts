// What all trackers are given, so that their pages show the same.

import { seriesValues } from "../metrics/metric-values.ts";

/** How much there is of what pages show. */
export type WebSizes = {
  /** Runs of the project with many. */
  readonly manyRuns: number;
  /** Runs whose lines are in one chart, and the points of each. */
  readonly lines: number;
  readonly lineSteps: number;
  /** Keys of the wide run. */
  readonly wideKeys: number;
};

/** The key of the long series. */
export const LINE_KEY = "train/loss";
/** Points of each key of the wide run. */
export const WIDE_STEPS = 20;

/** The values of the long series of the run with this place among them. */
export const lineValues = (run: number, { lineSteps }: WebSizes): Float64Array =>
  seriesValues("noisy", lineSteps, 1 + run);

/** The values of all keys of the wide run at a step. */
export function wideValues(step: number, { wideKeys }: WebSizes): Record<string, number> {
  return Object.fromEntries(
    Array.from({ length: wideKeys }, (_, i) => [`layer_${Math.floor(i / 10)}/value_${i % 10}`, i / (step + 1)]),
  );
}
