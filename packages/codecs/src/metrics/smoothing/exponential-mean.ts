/**
 * Exponential moving average, weighed by the distance of steps and corrected for its beginning. `weight` w, in [0, 1), is the share of the past that remains
 * after one step. With d the steps from the point before (1 for the first point, and for one at the same step, so that it counts as well) and a = w^d,
 *
 *   s = a s + (1 - a) value,  n = a n + (1 - a),  smoothed = s / n,  beginning with s = n = 0,
 *
 * so that the weights of all points so far add up to 1. For one point a step this is what TensorBoard draws: s = w s + (1 - w) value, divided by 1 - w^k after
 * k points (tensorboard/components/vz_line_chart2/line-chart.ts, resmoothDataset; the correction is from D. P. Kingma and J. Ba, "Adam: A Method for
 * Stochastic Optimization", 2015, section 3). For other distances it is the average of an irregularly spaced series with the next point's value in between
 * (A. Eckner, "Algorithms for Unevenly Spaced Time Series: Moving Averages and Other Rolling Operators", 2012). Takes constant memory plus the result.
 */
export function exponentialMean(steps: Float64Array, values: Float64Array, weight: number): Float64Array {
  const smoothed = new Float64Array(values.length);
  let sum = 0;
  let norm = 0;
  for (let i = 0; i < values.length; i++) {
    const distance = i === 0 ? 1 : steps[i]! - steps[i - 1]!;
    const kept = distance === 1 || distance === 0 ? weight : weight ** distance;
    sum = kept * sum + (1 - kept) * values[i]!;
    norm = kept * norm + (1 - kept);
    // A tiny distance may round its weight to nothing.
    smoothed[i] = norm === 0 ? values[i]! : sum / norm;
  }
  return smoothed;
}
