import { AGGREGATE_NUMBERS, NON_FINITE_NUMBERS } from "../storage-layout.ts";
import { mergeAggregate, mergeNonFinite, readAggregate } from "./aggregate-page.ts";
import type { KeyAggregate } from "./key-aggregates.ts";

/** Merges two aggregates of one key into a new one; the values behind `b` arrived after those behind `a`. */
export type MergeAggregates = (a: KeyAggregate, b: KeyAggregate) => KeyAggregate;

/** The numbers of an aggregate, as a page holds them. */
export function numbersOf(aggregate: KeyAggregate): number[] {
  return AGGREGATE_NUMBERS.map((name) => aggregate[name]);
}

/** The numbers of the values that are not finite, as the second array of a page holds them. */
export function nonFiniteNumbersOf(aggregate: KeyAggregate): number[] {
  return NON_FINITE_NUMBERS.map((name) => aggregate[name]);
}

/** Merges as a write does: as numbers of a page. */
function mergeOnPage(a: KeyAggregate, b: KeyAggregate): KeyAggregate {
  const page = Float64Array.from(numbersOf(a));
  mergeAggregate(page, 0, Float64Array.from(numbersOf(b)), 0);
  const others = Float64Array.from(nonFiniteNumbersOf(a));
  mergeNonFinite(others, 0, Float64Array.from(nonFiniteNumbersOf(b)), 0);
  const [nonFinite, nonFiniteFirstStep, nonFiniteStep] = [...others] as [number, number, number];
  return { key: a.key, ...readAggregate((i) => page[i]!), nonFinite, nonFiniteFirstStep, nonFiniteStep };
}

/** Merges by the definition, number by number: the model that mergeAggregate is compared with. */
export function mergeByDefinition(a: KeyAggregate, b: KeyAggregate): KeyAggregate {
  const steps = [a, b].filter((one) => one.nonFinite > 0);
  const nonFinite = {
    nonFinite: a.nonFinite + b.nonFinite,
    nonFiniteFirstStep: steps.length === 0 ? 0 : Math.min(...steps.map((one) => one.nonFiniteFirstStep)),
    nonFiniteStep: Math.max(0, ...steps.map((one) => one.nonFiniteStep)),
  };
  if (a.count === 0 || b.count === 0) return { ...(b.count === 0 ? a : b), ...nonFinite };
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
    ...nonFinite,
  };
}

/** Both ways to merge, for tests that hold for each. */
export const MERGES: readonly [name: string, merge: MergeAggregates][] = [
  ["on a page", mergeOnPage],
  ["by the definition", mergeByDefinition],
];
