import { comparePositions, weightOf, type LogColumns } from "@tidemark/codecs/logs";
import type { LogPosition } from "./log-page.rules.ts";

/*
 * Where blocks of console lines go. Blocks of one level do not overlap, so a reader finds at most one block of each level at a position. A
 * client that numbers its lines once fills only level 0; one that begins again at 1 also fills the next level. When there are too many
 * levels, the blocks at a crowded position are folded into one level. Everything here looks at a few neighbors, never at a whole stream.
 */

/** A stored block without its contents. Its level and its first position name it. */
export type BlockFacts = {
  readonly level: number;
  readonly first: LogPosition;
  readonly last: LogPosition;
  readonly lines: number;
  readonly messageBytes: number;
};

/** How blocks are cut and piled. */
export type LevelRules = {
  /** Weight at which a block ends. */
  readonly blockWeight: number;
  /** Levels that a stream may keep; a reader merges this many blocks at a position. */
  readonly levelsMax: number;
};

/** Blocks of about 750 lines of training output, 70 KB, where a reader finds at most four at a position. */
export const LEVEL_RULES: LevelRules = { blockWeight: 96 * 1024, levelsMax: 4 };

/** The most that one folding step reads, as a sum of block weights. */
const FOLD_WEIGHTS_MAX = 32;
/** The most overlapping blocks of one level that a folding step takes. A step asks for one extra, to know whether there are more. */
export const FOLD_BLOCKS_MAX = 64;
/** The most blocks before a new one that may be joined with it: about the times a block's weight can be halved until one line is left. */
export const JOINED_BLOCKS_MAX = 12;

/** A block of this share of the full weight is never rewritten just to make it fuller. */
const FULL_SHARE = 0.75;
/**
 * A smaller block is joined with the lines that are written after it when these weigh at least half of it, so a line of a slow stream is
 * rewritten about as often as its block's weight can be halved.
 */
const JOIN_RATIO = 2;
/** A level joins a fold when it weighs at most this many times the blocks already in the fold. */
const FOLD_RATIO = 2;

/** New lines between two positions, in order. */
export type FreshRange = { readonly first: LogPosition; readonly last: LogPosition; readonly weight: number };

/** A write to one level: some of the new ranges, by index, with the blocks that they replace. */
export type Placement = { readonly level: number; readonly ranges: number[]; readonly replaced: BlockFacts[] };

function weightOfBlock({ lines, messageBytes }: BlockFacts): number {
  return weightOf(lines, messageBytes);
}

/**
 * Finds the lowest level for each of some ranges, which ascend and do not overlap.
 * @param before for each range, the blocks that begin at or before its last position: the nearest of each level, nearest first
 */
export function placeRanges(
  rules: LevelRules,
  ranges: readonly FreshRange[],
  before: readonly (readonly BlockFacts[])[],
): Placement[] {
  const placements: (Placement & { last: LogPosition; first: LogPosition })[] = [];
  const replaced = new Set<string>();
  ranges.forEach((range, index) => {
    for (let level = 0; ; level++) {
      const stored = before[index]!.filter((block) => block.level === level);
      // A block that an earlier range replaces counts as a part of its replacement.
      const nearest = stored[0] === undefined || replaced.has(nameOf(stored[0])) ? undefined : stored[0];
      if (nearest !== undefined && comparePositions(nearest.last, range.first) >= 0) continue;
      const planned = placements.findLast((placement) => placement.level === level);
      if (planned !== undefined && (nearest === undefined || comparePositions(nearest.first, planned.first) < 0)) {
        planned.ranges.push(index);
        planned.last = range.last;
        return;
      }
      const reachable = nearest === undefined ? [] : stored.filter(isBehind(planned?.last));
      const joined = joinedWith(rules, range.weight, reachable);
      for (const block of joined) replaced.add(nameOf(block));
      placements.push({
        level,
        ranges: [index],
        replaced: joined,
        first: joined.at(-1)?.first ?? range.first,
        last: range.last,
      });
      return;
    }
  });
  return placements;
}

/** Returns whether a block begins after a position. */
function isBehind(position: LogPosition | undefined): (block: BlockFacts) => boolean {
  return (block) => position === undefined || comparePositions(block.first, position) > 0;
}

/** Returns the small blocks right before new lines of some weight that are rewritten together with them. */
function joinedWith({ blockWeight }: LevelRules, weight: number, stored: readonly BlockFacts[]): BlockFacts[] {
  const joined: BlockFacts[] = [];
  let sum = weight;
  for (const block of stored) {
    const more = weightOfBlock(block);
    if (more >= FULL_SHARE * blockWeight || more > JOIN_RATIO * sum) break;
    joined.push(block);
    sum += more;
  }
  return joined;
}

function nameOf({ level, first }: BlockFacts): string {
  return `${level}/${first.lineNumber}/${first.id}`;
}

/**
 * How to get a block out of the highest level. `merge`: the inputs are merged; the part before `top` is written to level `left`, the part after it to
 * level `right`, the rest to level `middle`. `split`: the block covers too much; its halves cover less.
 */
export type Fold =
  | {
      readonly kind: "merge";
      readonly inputs: readonly BlockFacts[];
      readonly left: number;
      readonly middle: number;
      readonly right: number;
    }
  | { readonly kind: "split" };

/**
 * Plans the folding of `top`, whose level is not 0.
 * @param overlapping lower-level blocks that overlap it; of a level with more than `FOLD_BLOCKS_MAX` of them, at least one more than that
 */
export function planFold(rules: LevelRules, top: BlockFacts, overlapping: readonly BlockFacts[]): Fold {
  const levels = Array.from({ length: top.level }, (_, level) => {
    const blocks = overlapping.filter((block) => block.level === level);
    return { level, blocks, weight: blocks.reduce((sum, block) => sum + weightOfBlock(block), 0) };
  }).sort((a, b) => a.weight - b.weight);
  const empty = levels.filter(({ blocks }) => blocks.length === 0).map(({ level }) => level);
  if (empty.length > 0) {
    const middle = Math.min(...empty);
    return { kind: "merge", inputs: [top], left: middle, middle, right: middle };
  }

  // Fold levels of similar weight together, lightest first, so that the moves of a line grow with the logarithm of the restarts.
  const inputs = [top];
  let weight = weightOfBlock(top);
  for (const next of levels) {
    const first = inputs.length === 1;
    const tooMuch = next.blocks.length > FOLD_BLOCKS_MAX || weight + next.weight > FOLD_WEIGHTS_MAX * rules.blockWeight;
    // A single line overlaps one block of a level and cannot be split.
    if (first ? tooMuch && top.lines > 1 : tooMuch || next.weight > FOLD_RATIO * weight) break;
    inputs.push(...next.blocks);
    weight += next.weight;
  }
  if (inputs.length === 1) return { kind: "split" };
  const lower = inputs.slice(1);
  const leftmost = lower.reduce((a, b) => (comparePositions(b.first, a.first) < 0 ? b : a));
  const rightmost = lower.reduce((a, b) => (comparePositions(b.last, a.last) > 0 ? b : a));
  const middle = Math.min(...lower.map(({ level }) => level));
  // Each lower level is free where its inputs were: all of them at `top`, and next to `top` the one that reaches farthest.
  return { kind: "merge", inputs, left: leftmost.level, middle, right: rightmost.level };
}

/** Lines to be written as a block of a level. */
export type NewBlock = { readonly level: number; readonly columns: LogColumns };

/** A change of a stream's blocks: the removed and the added ones hold the same lines. */
export type BlockChange = {
  /** Landing segments whose lines are in the new blocks. */
  readonly segmentIds: readonly number[];
  readonly replaced: readonly BlockFacts[];
  readonly added: readonly NewBlock[];
};
