/** Returns whether all of the numbers `[from, to)` are finite. */
export function areFinite(numbers: Float64Array, from: number, to: number): boolean {
  // Each difference is 0 for a finite number and NaN for any other, and so is their sum.
  let differences = 0;
  for (let i = from; i < to; i++) differences += numbers[i]! - numbers[i]!;
  return differences === 0;
}

/** Returns the points with finite values, in their order. There is a step for each value, and there may be more behind them. */
export function finitePoints(
  steps: Float64Array,
  values: Float64Array,
): { readonly steps: Float64Array; readonly values: Float64Array } {
  const kept = { steps: new Float64Array(values.length), values: new Float64Array(values.length) };
  let count = 0;
  for (let i = 0; i < values.length; i++) {
    if (!Number.isFinite(values[i])) continue;
    kept.steps[count] = steps[i]!;
    kept.values[count++] = values[i]!;
  }
  return { steps: kept.steps.subarray(0, count), values: kept.values.subarray(0, count) };
}
