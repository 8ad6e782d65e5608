import type { HeadDelta as KeyAggregate } from "@tidemark/metric-codec";

/** Merges two aggregates of one key, field by field: a model of the merge that works on pages. `b`'s values arrived after `a`'s. */
export function mergedAggregates(a: KeyAggregate, b: KeyAggregate): KeyAggregate {
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
    mean: Number.isFinite(delta) ? a.mean + delta * share : a.mean * (1 - share) + b.mean * share,
    m2: a.m2 + b.m2 + delta * delta * (a.count * share),
    latest: bIsLatest ? b.latest : a.latest,
    latestStep: bIsLatest ? b.latestStep : a.latestStep,
    firstStep: Math.min(a.firstStep, b.firstStep),
  };
}
