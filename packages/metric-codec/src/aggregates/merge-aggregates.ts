import type { KeyAggregate } from "./key-aggregates.ts";

/**
 * The aggregate of all values behind `a` and `b`, two aggregates of one key; `b`'s values arrived after `a`'s. Means and squared deviations are merged
 * after Chan, Golub and LeVeque ("Updating formulae and a pairwise algorithm for computing sample variances", Stanford STAN-CS-79-773, 1979):
 *
 *     delta = b.mean - a.mean
 *     mean  = a.mean + delta * (b.count / count)
 *     m2    = a.m2 + b.m2 + delta * delta * (a.count * (b.count / count))
 *
 * which a database can compute the same way; PostgreSQL, though, refuses a statement in which a product or difference leaves the range of
 * doubles, where this gives Infinity or 0. `m2` becomes Infinity where it is beyond a double, and never NaN.
 */
export function mergeHeads(a: KeyAggregate, b: KeyAggregate): KeyAggregate {
  const count = a.count + b.count;
  const share = b.count / count;
  const delta = b.mean - a.mean;
  const bHasMin = b.min < a.min || (b.min === a.min && b.minStep < a.minStep);
  const bHasMax = b.max > a.max || (b.max === a.max && b.maxStep < a.maxStep);
  const bIsLatest = b.latestStep >= a.latestStep;
  return {
    key: a.key,
    count,
    min: bHasMin ? b.min : a.min,
    minStep: bHasMin ? b.minStep : a.minStep,
    max: bHasMax ? b.max : a.max,
    maxStep: bHasMax ? b.maxStep : a.maxStep,
    // Means at opposite ends of the doubles are further apart than a double can say.
    mean: Number.isFinite(delta) ? a.mean + delta * share : a.mean * (1 - share) + b.mean * share,
    m2: a.m2 + b.m2 + delta * delta * (a.count * share),
    latest: bIsLatest ? b.latest : a.latest,
    latestStep: bIsLatest ? b.latestStep : a.latestStep,
    firstStep: Math.min(a.firstStep, b.firstStep),
  };
}
