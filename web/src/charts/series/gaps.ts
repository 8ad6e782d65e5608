/** A distance this many times the usual one is a gap. */
const GAP = 3;

/** This share of the distances between neighbors counts as usual, so that points in pairs have no gaps. */
const USUAL_SHARE = 0.8;

/**
 * Returns the distance from which the line between two neighbors would hide a gap: several times the usual one in the series. Gaps are also those to
 * both neighbors' sides, see {@link isGap}; a series whose distances grow, as of evaluations at 1, 2, 4, 8, …, has none.
 */
export function gapOf(x: Float64Array): number {
  if (x.length < 3) return Infinity;
  const distances = new Float64Array(x.length - 1);
  for (let i = 1; i < x.length; i++) distances[i - 1] = x[i]! - x[i - 1]!;
  distances.sort();
  const usual = distances[Math.min(distances.length - 1, Math.floor(distances.length * USUAL_SHARE))]!;
  return usual > 0 ? usual * GAP : Infinity;
}

/** Whether there is a gap before the point at this place. */
export function isGap(x: Float64Array, i: number, least: number): boolean {
  const distance = x[i]! - x[i - 1]!;
  if (!(distance > least)) return false;
  const before = i >= 2 ? x[i - 1]! - x[i - 2]! : 0;
  const after = i + 1 < x.length ? x[i + 1]! - x[i]! : 0;
  return distance > GAP * Math.max(before, after) || Math.max(before, after) > least;
}
