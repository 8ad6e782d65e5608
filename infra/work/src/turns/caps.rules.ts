/** Milliseconds that a callback may wait on average before the heaviest party is slowed down. A request waits as long at each of its steps. */
export const LATE_MS = 3;

/** Below this a party that was slowed down may have more again. */
export const CALM_MS = 1.5;

/** The least that a party keeps (served requests or connections), however late the loop or the database is. */
export const CAP_MIN = 1;

/** A party with such a cap is no longer bounded. */
export const CAP_MAX = 256;

/** The share of its requests that a slowed-down party keeps. */
const CUT = 0.6;

/** How much of its load a party keeps from one judgment to the next. */
const KEPT = 0.5;

/** A party as the judgment sees it. */
export type Load = {
  /** Requests that are served now. */
  held: number;
  /** Requests that were served, averaged over the last judgments. */
  load: number;
  /** Most requests that may be served at the same time; infinite unless it was slowed down. */
  cap: number;
};

/**
 * Sets the caps of all parties from how late the loop or another shared server is, in milliseconds: additive increase, multiplicative decrease
 * (Chiu and Jain, 1989). A late one slows the most-served party, because a request waits for everything served at the same time; no other party is slowed
 * down. While it is alone (`isShared` false) no party is.
 */
export function adjustLimits(parties: Iterable<Load>, lateMs: number, isShared: boolean): void {
  let heaviest: Load | undefined;
  for (const party of parties) {
    party.load = party.load * KEPT + party.held * (1 - KEPT);
    if (!isShared) party.cap = Number.POSITIVE_INFINITY;
    else if (lateMs < CALM_MS && party.cap !== Number.POSITIVE_INFINITY)
      party.cap = party.cap + 1 > CAP_MAX ? Number.POSITIVE_INFINITY : party.cap + 1;
    if (party.load > (heaviest?.load ?? CAP_MIN)) heaviest = party;
  }
  if (!isShared || lateMs <= LATE_MS || heaviest === undefined) return;
  heaviest.cap = Math.max(CAP_MIN, Math.floor(Math.min(heaviest.cap, heaviest.load) * CUT));
}

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
