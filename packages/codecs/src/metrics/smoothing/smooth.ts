import { exponentialMean } from "./exponential-mean.ts";
import { gaussianMean } from "./gaussian-mean.ts";
import { runningMean } from "./running-mean.ts";

/**
 * How a series is smoothed. The parameter of `ema` is the share of the past left after a step, in [0, 1); of `gaussian` the standard deviation, and of
 * `mean` the width of the window, in steps, above 0.
 */
export type Smoothing = { readonly kind: (typeof SMOOTHING_KINDS)[number]; readonly parameter: number };

/** How a series can be smoothed. */
export const SMOOTHING_KINDS = ["ema", "gaussian", "mean"] as const;

/** Larger values are smoothed as parts of themselves, so that no sum of some is too large. */
const LARGE = 2 ** 960;
const PART = 2 ** -60;

/**
 * Returns one number for each point. The points are in the order of their steps. Each number depends on the points alone, so it is the same for any part of
 * them that is drawn. For finite values it is finite.
 */
export function smooth(smoothing: Smoothing, steps: Float64Array, values: Float64Array): Float64Array {
  if (!values.some((value) => Math.abs(value) > LARGE)) return smoothed(smoothing, steps, values);
  const parts = smoothed(
    smoothing,
    steps,
    values.map((value) => value * PART),
  );
  return parts.map((part) => Math.max(-Number.MAX_VALUE, Math.min(part / PART, Number.MAX_VALUE)));
}

function smoothed({ kind, parameter }: Smoothing, steps: Float64Array, values: Float64Array): Float64Array {
  if (kind === "ema") return exponentialMean(steps, values, parameter);
  return kind === "gaussian" ? gaussianMean(steps, values, parameter) : runningMean(steps, values, parameter);
}
