import type { Automaton } from "./automaton.ts";
import type { Measure } from "./measure.ts";

/** Words that the scans have. Those of one and two words look all followers up, and do not care what follows what. */
export const wordSizes = [1, 2, 4, 8] as const;
export type WordSize = (typeof wordSizes)[number];

/** By number, lists of positions. */
export type PositionLists = readonly (readonly number[])[];

/** How followers are found: at distances, by groups of positions, and the rest one by one. */
export type FollowerPlan = {
  readonly words: WordSize;
  readonly distances: readonly number[];
  readonly groups: readonly { readonly positions: readonly number[]; readonly followers: readonly number[] }[];
  readonly others: PositionLists;
  /** What reading a character costs at most, in nanoseconds. */
  readonly cost: number;
};

/**
 * What the parts of a scan cost per character, in nanoseconds as measured on one core of a 2.3 GHz Xeon (Sapphire Rapids)
 * with Node 24: the scan itself with the reading of the text, every distance beyond those it has built in, every group, every block with
 * live exceptions, and counting.
 */
const costs: Readonly<Record<WordSize, { scan: number; leap: number; group: number; block: number; builtIn: number }>> =
  {
    1: { scan: 6, leap: 0, group: 0, block: 0, builtIn: 0 },
    2: { scan: 18, leap: 0, group: 0, block: 0, builtIn: 0 },
    4: { scan: 11, leap: 4, group: 5, block: 3, builtIn: 1 },
    8: { scan: 17, leap: 9, group: 16, block: 9.5, builtIn: 0 },
  };
const COUNTING = 6;
const COUNTER = 4.5;

const countingCost = (counters: number) => (counters === 0 ? 0 : COUNTING + counters * COUNTER);

/** Positions besides the characters that an automaton has: counters have two each, and some stand for the match. */
const FEWEST_SPECIALS = 2;

/** Distances, and groups, that a plan has at most. */
const PLANNED_MAX = 6;

/** What a character costs at least in the bit form of a tree of this measure, whatever follows what. */
export function leastCost({ characters, counters }: Measure): number {
  const words = Math.ceil((characters + 2 * counters + FEWEST_SPECIALS) / 32);
  return Math.min(...wordSizes.map((size) => (size < words ? Infinity : costs[size].scan + countingCost(counters))));
}

/** The most blocks that can have live exceptions after the same character, but for those which end the search. */
function mostBlocks(others: PositionLists, { words, reach, accept, counters }: Automaton): number {
  // Counters bring exits to life, after any character.
  const exits = counters.reduce((all, { exit }) => all | exit, 0);
  const has = (set: number, at: number) => ((set >>> at) & 1) === 1;
  let most = 0;
  for (let cls = 0; cls < reach.length; cls += words) {
    const blocks = new Set<number>();
    others.forEach((list, at) => {
      const goesOn = list.some((to) => to > 31 || !has(accept, to));
      const live = has(reach[cls + (at >> 5)]!, at & 31) || (at < 32 && has(exits, at));
      if (goesOn && live) blocks.add(at >> 3);
    });
    most = Math.max(most, blocks.size);
  }
  return most;
}

/** Positions with the same followers, by the number of blocks that they are in, the most first. */
function groupsOf(others: PositionLists): FollowerPlan["groups"] {
  const byFollowers = new Map<string, { positions: number[]; followers: readonly number[] }>();
  others.forEach((followers, at) => {
    const key = followers.join();
    if (!byFollowers.has(key)) byFollowers.set(key, { positions: [], followers });
    byFollowers.get(key)!.positions.push(at);
  });
  byFollowers.delete("");
  const blocks = ({ positions }: FollowerPlan["groups"][number]) => new Set(positions.map((at) => at >> 3)).size;
  return [...byFollowers.values()].filter((group) => blocks(group) > 1).sort((a, b) => blocks(b) - blocks(a));
}

/** Divides the followers in the way that makes the scan of so many words cheapest. */
function planFor(words: WordSize, automaton: Automaton, lists: PositionLists): FollowerPlan {
  const cost = costs[words];
  const counting = countingCost(automaton.counters.length);
  if (words < 4) return { words, distances: [], groups: [], others: lists, cost: cost.scan + counting };
  const counts = new Uint32Array(32);
  lists.forEach((list, at) => list.forEach((to) => to - at > 1 && to - at < 32 && counts[to - at]!++));
  const common = [...counts.keys()].filter((distance) => counts[distance]! > 0);
  common.sort((a, b) => counts[b]! - counts[a]!);

  let best: FollowerPlan | undefined;
  for (let amount = 0; amount <= Math.min(common.length, PLANNED_MAX); amount++) {
    const distances = common.slice(0, amount);
    const shifted = new Set([0, 1, ...distances]);
    const left = lists.map((list, at) => list.filter((to) => !shifted.has(to - at)));
    const grouped = groupsOf(left);
    for (let by = 0; by <= Math.min(grouped.length, PLANNED_MAX); by++) {
      const groups = grouped.slice(0, by);
      const positions = new Set(groups.flatMap((group) => group.positions));
      const others = left.map((list, at) => (positions.has(at) ? [] : list));
      const leaps = Math.max(0, amount - cost.builtIn) * cost.leap;
      const rest = by * cost.group + mostBlocks(others, automaton) * cost.block;
      const plan = { words, distances, groups, others, cost: cost.scan + leaps + rest + counting };
      if (best === undefined || plan.cost < best.cost) best = plan;
    }
  }
  return best!;
}

/** The cheapest of the scans that hold an automaton with these followers; nothing when none does. */
export function planFollowers(automaton: Automaton, lists: PositionLists): FollowerPlan | undefined {
  const plans = wordSizes.filter((size) => size >= automaton.words).map((size) => planFor(size, automaton, lists));
  return plans.reduce<FollowerPlan | undefined>(
    (best, plan) => (best && best.cost <= plan.cost ? best : plan),
    undefined,
  );
}
