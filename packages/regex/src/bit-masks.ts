import type { Automaton } from "./automaton.ts";
import { planFollowers, wordSizes, type PositionLists, type WordSize } from "./scan-plan.ts";

/**
 * The followers of an automaton as operations on words (after the LimEx automata of Hyperscan, and Navarro and Raffinot,
 * Flexible Pattern Matching in Strings, 2002): most positions are followed by the next one or by one at another common
 * distance, so the live set moves by masked shifts. What is left, the exceptions, is looked up by eight positions, a
 * block, at a time.
 */
export type BitMasks = {
  /** Words of each set below. */
  readonly words: WordSize;
  /** Positions that can follow themselves, and those that the next one can follow. */
  readonly stay: Int32Array;
  readonly step: Int32Array;
  /** Distances from 2 to 31, and for each the positions that the one at this distance can follow. */
  readonly distances: Int32Array;
  readonly leaps: Int32Array;
  /** Groups of positions with other followers that they all have, and these followers. */
  readonly groups: Int32Array;
  readonly groupFollowers: Int32Array;
  /** Positions that have other followers on their own. */
  readonly exceptional: Int32Array;
  /** By block, where in `followers` the sets begin that can follow each choice of exceptional positions in it. */
  readonly blockOf: Int32Array;
  readonly followers: Int32Array;
  /** As in the automaton. */
  readonly reach: Int32Array;
  readonly restart: Int32Array;
  readonly start: Int32Array;
  /** What reading a character costs at most, in nanoseconds; see the plan. */
  readonly cost: number;
};

/** The sets of an array, each of `from` words, with `to` words each. */
function widened(sets: Int32Array, from: number, to: number): Int32Array {
  const wide = new Int32Array((sets.length / from) * to);
  for (let i = 0; i * from < sets.length; i++) wide.set(sets.subarray(i * from, (i + 1) * from), i * to);
  return wide;
}

/** Lists what follows each position, but for what may follow anywhere. */
function listFollowers({ size, words, rows, rowOf, restart }: Automaton): number[][] {
  return Array.from({ length: size }, (_, position) => {
    const found: number[] = [];
    for (let i = 0; i < words; i++) {
      let rest = rows[rowOf[position]! + i]! & ~restart[i]!;
      for (; rest !== 0; rest &= rest - 1) found.push(i * 32 + 31 - Math.clz32(rest & -rest));
    }
    return found;
  });
}

/** Makes the masks of an automaton; nothing when it has more positions than any scan. */
export function createBitMasks(automaton: Automaton): BitMasks | undefined {
  if (automaton.words > Math.max(...wordSizes)) return undefined;
  const lists = listFollowers(automaton);
  const plan = planFollowers(automaton, lists);
  if (plan === undefined) return undefined;
  const { words, distances, groups, others, cost } = plan;
  const maskOf = (holds: (list: readonly number[], position: number) => boolean) => {
    const mask = new Int32Array(words);
    lists.forEach((list, at) => holds(list, at) && (mask[at >> 5]! |= 1 << (at & 31)));
    return mask;
  };

  const setsOf = (sets: PositionLists) => {
    const array = new Int32Array(sets.length * words);
    sets.forEach((set, i) => set.forEach((at) => (array[i * words + (at >> 5)]! |= 1 << (at & 31))));
    return array;
  };

  // Blocks without exceptions share the table of the first, of which they only see the entry for no position at all.
  const blockOf = new Int32Array(words * 4);
  const blocks = [...blockOf.keys()].filter((i) => others.slice(i * 8, i * 8 + 8).some((list) => list.length > 0));
  const followers = new Int32Array(Math.max(1, blocks.length) * 256 * words);
  blocks.forEach((block, index) => {
    const base = index * 256 * words;
    blockOf[block] = base;
    for (let choice = 1; choice < 256; choice++) {
      const [at, without] = [base + choice * words, base + (choice & (choice - 1)) * words];
      followers.copyWithin(at, without, without + words);
      const lowest = others[block * 8 + 31 - Math.clz32(choice & -choice)] ?? [];
      for (const to of lowest) followers[at + (to >> 5)]! |= 1 << (to & 31);
    }
  });
  return {
    words,
    stay: maskOf((list, at) => words > 2 && list.includes(at)),
    step: maskOf((list, at) => words > 2 && list.includes(at + 1)),
    distances: Int32Array.from(distances),
    leaps: Int32Array.from(distances.flatMap((far) => [...maskOf((list, at) => list.includes(at + far))])),
    groups: setsOf(groups.map(({ positions }) => positions)),
    groupFollowers: setsOf(groups.map((group) => group.followers)),
    exceptional: maskOf((_, at) => others[at]!.length > 0),
    blockOf,
    followers,
    reach: widened(automaton.reach, automaton.words, words),
    restart: widened(automaton.restart, automaton.words, words),
    start: widened(automaton.start, automaton.words, words),
    cost,
  };
}
