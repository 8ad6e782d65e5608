import type { KeyAggregate } from "./key-aggregates.ts";

/*
 * The aggregates of a run's keys are stored in pages: key id k is slot k mod 32 of page k div 32. A page is an array of doubles, ten for each key.
 */

/** Keys of a page. */
export const AGGREGATES_PER_PAGE = 32;

/** Numbers of a aggregate: count, mean, m2, min, minStep, max, maxStep, latest, latestStep, firstStep, in this order. */
export const NUMBERS_PER_AGGREGATE = 10;

/** A aggregate out of its numbers, which `numberAt` gives by their index from 0. */
export function readAggregate(numberAt: (index: number) => number): Omit<KeyAggregate, "key"> {
  return {
    count: numberAt(0),
    mean: numberAt(1),
    m2: numberAt(2),
    min: numberAt(3),
    minStep: numberAt(4),
    max: numberAt(5),
    maxStep: numberAt(6),
    latest: numberAt(7),
    latestStep: numberAt(8),
    firstStep: numberAt(9),
  };
}
