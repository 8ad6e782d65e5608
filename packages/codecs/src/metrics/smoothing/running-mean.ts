/**
 * Running average: the mean of all points whose steps are at most half of `width` away, before and behind. Takes time by the number of points alone: the points of
 * the window are a front part, with known sums from each point to its end, and a back part, which has one sum. Points leave at the front and enter at
 * the back, and when the front is used up, the whole window becomes the new front (K. Tangwongsan, M. Hirzel and S. Schneider, "Low-Latency Sliding-Window
 * Aggregation in Worst-Case Constant Time", 2017, section 3, Two-Stacks). Nothing is ever subtracted, so a large value leaves nothing behind.
 */
export function runningMean(steps: Float64Array, values: Float64Array, width: number): Float64Array {
  const smoothed = new Float64Array(values.length);
  const reach = width / 2;
  const front = new Float64Array(values.length);
  let back = 0;
  // The window is [from, to), its front part [from, middle).
  let from = 0;
  let middle = 0;
  let to = 0;
  for (let i = 0; i < values.length; i++) {
    while (to < values.length && steps[to]! - steps[i]! <= reach) back += values[to++]!;
    while (steps[i]! - steps[from]! > reach) {
      from += 1;
      if (from < middle) continue;
      for (let at = to - 1, sum = 0; at >= from; at--) {
        sum += values[at]!;
        front[at] = sum;
      }
      middle = to;
      back = 0;
    }
    smoothed[i] = ((from < middle ? front[from]! : 0) + back) / (to - from);
  }
  return smoothed;
}
