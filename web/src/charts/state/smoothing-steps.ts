import type { Smoothing } from "../series/series.ts";

/** The steps of `[` and `]` for each kind, starting from none. */
const STEPS: Readonly<Record<Smoothing["kind"], readonly number[]>> = {
  ema: [0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999],
  gaussian: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000],
  mean: [2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000],
};

/** Returns more or less smoothing, one step on; undefined for none. */
export function nextSmoothing(now: Smoothing | undefined, by: 1 | -1): Smoothing | undefined {
  const kind = now?.kind ?? "ema";
  const steps = STEPS[kind];
  if (now === undefined) return by > 0 ? { kind, parameter: steps[0]! } : undefined;
  const next = by > 0 ? steps.find((step) => step > now.parameter) : steps.findLast((step) => step < now.parameter);
  if (next !== undefined) return { kind, parameter: next };
  return by > 0 ? now : undefined;
}

/** Returns the places of a slider, from none on. */
export function smoothingStops(kind: Smoothing["kind"]): readonly number[] {
  return STEPS[kind];
}
