import { createAlphabet, type Alphabet } from "./alphabet.ts";
import { createAutomaton, type Automaton, type AutomatonLimits } from "./automaton.ts";
import { createBitNfa, type BitNfa } from "./bit-nfa.ts";
import { createClassReader, type ClassReader } from "./class-reader.ts";
import { createLazyDfa, type LazyDfa } from "./lazy-dfa.ts";
import { createMeasure, runLengths } from "./measure.ts";
import { createProgram } from "./program.ts";
import { regexError } from "./regex-error.ts";
import { leastCost } from "./scan-plan.ts";
import type { Node } from "./tree.ts";

/** Limits of a matcher; tests narrow them to force it into one of its ways. */
export type MatcherLimits = {
  /** The most that a character may cost in the bit form, in the measure of its masks: nanoseconds, about. */
  readonly cost: number;
  /** For the states of the deterministic form. */
  readonly stateBytes: number;
  /** The effort that making states may take before reading has earned it. None: only the bit form is used. */
  readonly credit: number;
  /** The effort that making every state may take, of a pattern that has no bit form within `cost`. */
  readonly completion: number;
};

/**
 * The limits in use. With `cost` any one pattern searches 128 MiB in 8 s of one core (60 ns for each of 134 million units);
 * `completion` takes less than a tenth of a second.
 */
export const matcherLimits: MatcherLimits = {
  cost: 60,
  stateBytes: 8_000_000,
  credit: 2_000_000,
  completion: 8_000_000,
};

/** Positions written out, for each form: the bits of a scan, and what keeps making a state short. */
const bitPositions: AutomatonLimits = { positions: 256, visits: 100_000 };
const statePositions: AutomatonLimits = { positions: 2_048, visits: 300_000 };
const completePositions: AutomatonLimits = { positions: 4_096, visits: 600_000 };

/** Effort that is earned by a character read in the bit form, and the credit at which making states is tried again. */
const EARNED_BY_BITS = 1 / 16;
const RETRY_CREDIT = 1 / 8;

/** What a unit costs when all states are known but few are in the nearest cache, or it is half of a pair. */
const COST_OF_STATES = 12;

/** Runs shorter than this are not worth a counter. */
const COUNT_FROM_MIN = 24;

/** Answers whether a pattern matches anywhere in a text, at this cost per unit of text at most, in nanoseconds. */
export type Matcher = { readonly test: (text: string) => boolean; readonly cost: number };

function automatonOf(
  root: Node,
  alphabet: Alphabet,
  countFrom: number,
  limits: AutomatonLimits,
): Automaton | undefined {
  if (createMeasure(countFrom)(root).characters > limits.positions) return undefined;
  const bareEdges = new Set(alphabet.kindOf).size > 1;
  return createAutomaton(createProgram(root, { countFrom, bareEdges }), alphabet, limits);
}

type CountedBits = { readonly automaton: Automaton; readonly bits: BitNfa };

/** The bit form in which a character costs least, with as many runs counted as that takes; nothing beyond `limit`. */
function cheapestBits(root: Node, alphabet: Alphabet, limit: number): CountedBits | undefined {
  const lengths = runLengths(root).filter((length) => length >= COUNT_FROM_MIN);
  const choices = [Infinity, ...lengths]
    .map((countFrom) => ({ countFrom, cost: leastCost(createMeasure(countFrom)(root)) }))
    .filter(({ cost }) => cost <= limit)
    .sort((a, b) => a.cost - b.cost);
  let best: CountedBits | undefined;
  for (const { countFrom, cost } of choices) {
    if (best !== undefined && best.bits.cost <= cost) break;
    const automaton = automatonOf(root, alphabet, countFrom, bitPositions);
    const bits = automaton && createBitNfa(automaton);
    if (automaton === undefined || bits === undefined || bits.cost > (best?.bits.cost ?? limit)) continue;
    best = { automaton, bits };
  }
  return best;
}

function searchBits(bits: BitNfa, reader: ClassReader): (text: string) => boolean {
  return (text) => {
    reader.open(text);
    return bits.search(reader);
  };
}

/** Searches by states as long as few new ones are needed, and by bits for a while when they were too many. */
function searchBoth(dfa: LazyDfa, bits: BitNfa, reader: ClassReader, credit: number): (text: string) => boolean {
  const byBits = searchBits(bits, reader);
  let resting = credit <= 0;
  return (text) => {
    resting &&= dfa.credit <= credit * RETRY_CREDIT;
    if (!resting) {
      reader.open(text);
      const found = dfa.search(reader);
      if (found !== undefined) return found;
      resting = true;
    }
    dfa.earn(text.length * EARNED_BY_BITS);
    return byBits(text);
  };
}

/**
 * Makes the matcher of a tree. It reads texts in its deterministic form, 3 ns per character, and in its bit form those
 * for which it would have to make too many states. A pattern without a bit form within the limits is only taken if all
 * its states can be made beforehand.
 * @throws RegexError `matches_empty`, `too_large`
 */
export function createMatcher(root: Node, limits: MatcherLimits = matcherLimits): Matcher {
  if (root.nullable) throw regexError("matches_empty");
  const alphabet = createAlphabet(root);
  const counted = cheapestBits(root, alphabet, limits.cost);
  const plain = automatonOf(root, alphabet, Infinity, counted === undefined ? completePositions : statePositions);
  if ((plain ?? counted?.automaton)?.matchesEmpty === true) throw regexError("matches_empty");

  const dfa = plain && createLazyDfa(plain, { bytes: limits.stateBytes, credit: limits.credit });
  const reader = createClassReader(alphabet);
  if (counted === undefined) {
    if (dfa === undefined || !dfa.complete(limits.completion)) throw regexError("too_large");
    return {
      cost: COST_OF_STATES,
      test(text) {
        reader.open(text);
        return dfa.search(reader) === true;
      },
    };
  }
  const { bits } = counted;
  const test = dfa === undefined ? searchBits(bits, reader) : searchBoth(dfa, bits, reader, limits.credit);
  return { test, cost: Math.max(bits.cost, COST_OF_STATES) };
}
