/** Times between the ticks of a clock that the event loop delays, in milliseconds: their sum and the sum of their squares. */
export type Intervals = { readonly sum: number; readonly squares: number };

/**
 * Returns how long a callback waits on average that becomes ready at a random moment, in milliseconds, from the intervals of a clock that ticks
 * every `resolutionMs` while the loop is idle. Long intervals count by their length, because more moments lie in them: the mean residual life of a
 * renewal process is E[x²] / 2 E[x] (Feller, An Introduction to Probability Theory, volume 2, XI.4). An idle loop waits 0.
 */
export function lateness({ sum, squares }: Intervals, resolutionMs: number): number {
  if (!(sum > 0)) return 0;
  return Math.max(0, squares / (2 * sum) - resolutionMs / 2);
}
