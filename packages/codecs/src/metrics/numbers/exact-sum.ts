/**
 * Sums are kept as so much of themselves, a power of two: values up to the largest double can then be added 2^40 times, and nothing else changes, except that
 * values below 1e-295 lose digits.
 */
const SCALE = 2 ** -40;

/** Numbers of a sum in memory: the sum and what rounding left out of it. */
export const SUM_NUMBERS = 2;

/**
 * Adds the values `[from, to)` to the sum at `target[at]` and `target[at + 1]`, with an error of about 2^-104 of the largest value: twice the digits of a
 * double. So the sum, rounded to one, is the same for any order and grouping of the values, unless they nearly cancel each other out (T. Ogita, S. M. Rump
 * and S. Oishi, "Accurate Sum and Dot Product", SIAM Journal on Scientific Computing 26(6), 2005, Algorithm 4.4, Sum2).
 */
export function addToSum(target: Float64Array, at: number, values: Float64Array, from: number, to: number): void {
  let sum = 0;
  let rest = 0;
  for (let i = from; i < to; i++) {
    const value = values[i]!;
    const next = sum + value;
    const part = next - sum;
    rest += sum - (next - part) + (value - part);
    sum = next;
  }
  if (Number.isFinite(sum + rest)) addSum(target, at, sum * SCALE, rest * SCALE);
  else for (let i = from; i < to; i++) addSum(target, at, values[i]! * SCALE, 0);
}

/** Adds a sum, with its rest, to the one at `target[at]`. */
export function addSum(target: Float64Array, at: number, sum: number, rest: number): void {
  const before = target[at]!;
  const next = before + sum;
  const part = next - before;
  target[at] = next;
  target[at + 1]! += rest + (before - (next - part) + (sum - part));
}

/** Returns the mean of `count` values with this sum; never outside the lowest and the highest of them, where rounding might take it. */
export function meanOfSum(sum: number, rest: number, count: number, min: number, max: number): number {
  return Math.min(Math.max((sum + rest) / count / SCALE, min), max);
}

/** Returns the mean of the values `[from, to)`, at least one. */
export function meanOf(values: Float64Array, from: number, to: number): number {
  const sum = new Float64Array(SUM_NUMBERS);
  addToSum(sum, 0, values, from, to);
  let min = Infinity;
  let max = -Infinity;
  for (let i = from; i < to; i++) {
    min = Math.min(min, values[i]!);
    max = Math.max(max, values[i]!);
  }
  return meanOfSum(sum[0]!, sum[1]!, to - from, min, max);
}
