import { KEY_RANGE_WIDTHS, type EncodedBlock } from "@tidemark/codecs/metrics";

/*
 * Where blocks of metrics go. Keys are numbered in the order in which they appeared; a block covers a key range of 16, 256 or 4,096 neighboring
 * keys. Landing segments go into wide key ranges while each key has few points, and move to narrower ones as points arrive, so that a block always
 * holds a useful amount. Within a key range, blocks of similar size are joined. For any key the blocks of a narrower key range are all older than
 * those of a wider one, and all blocks are disjoint in their order of arrival. Everything here looks only at the newest blocks of a key range,
 * never at a whole run.
 */

/** How many neighboring keys a key range covers. */
export type KeyRangeWidth = (typeof KEY_RANGE_WIDTHS)[number];

/** A key range of a run's keys: ids from `firstKey`, a multiple of the width. */
export type KeyRange = { readonly firstKey: number; readonly width: KeyRangeWidth };

/** Points that arrived one after another, by the first and the last of their landing segments. */
export type Span = { readonly firstSeq: number; readonly lastSeq: number };

/** The size of a span: points, which several keys share, and values. */
export type Amount = { readonly points: number; readonly values: number };

/** A stored block without its contents. Its first key and its first seq name it. */
export type MetricBlockFacts = KeyRange & Span & Amount;

/** How blocks are cut, joined and moved. */
export type KeyRangeRules = {
  /** The most points of one block. A block with half as many is sealed: it is never joined with others. Two smaller blocks can always be joined. */
  readonly pointsMax: number;
  /**
   * The most values that a key range holds in blocks of its width; beyond, it is cut into narrower key ranges. At least the values of a narrow
   * block of `pointsMax` points.
   */
  readonly valuesMax: number;
  /** New values go directly to narrower key ranges when each of these gets at least this many values. */
  readonly childValuesMin: number;
};

/** With these rules a sealed block of a narrow key range has at most half a megabyte, and the chunk of a key at most 32 KB. */
export const KEY_RANGE_RULES: KeyRangeRules = { pointsMax: 4096, valuesMax: 65_536, childValuesMin: 2048 };

/** The fractions of its multiples are spread evenly, however many multiples are taken (Knuth, The Art of Computer Programming 3, 6.4). */
const GOLDEN_RATIO = (1 + Math.sqrt(5)) / 2;
/** New values go directly to narrower key ranges when these are at most this many. */
const CHILDREN_FEW = 2;
/** New values go directly to up to this many narrower key ranges, when each gets enough values that its block is not mostly directory. */
const CHILDREN_SOME = 4;
const CHILD_VALUES_SOME = 64;
/** A class holds blocks of up to this many times the points of the class below. Blocks are joined when together they are of the next class. */
const CLASS_RATIO = 4;

/** In a complete key range, blocks are joined when the others have at least a fourth of the points of the largest. */
const COMPLETE_RATIO = 4;

/** Returns the key range of this width that holds a key. */
export function keyRangeOf(keyId: number, width: KeyRangeWidth): KeyRange {
  return { firstKey: keyId - (keyId % width), width };
}

/** Returns the next narrower width; undefined for the narrowest. */
export function narrower(width: KeyRangeWidth): KeyRangeWidth | undefined {
  return KEY_RANGE_WIDTHS[KEY_RANGE_WIDTHS.indexOf(width) + 1];
}

/** Returns how many points seal a block, which then is never joined with others. */
export function sealedPoints({ pointsMax }: KeyRangeRules): number {
  return pointsMax / 2;
}

/** Returns whether a block of this many points stays unchanged, and so is worth the best encoding. */
export function isFinal(rules: KeyRangeRules, width: KeyRangeWidth, points: number): boolean {
  return narrower(width) === undefined && points >= sealedPoints(rules);
}

/**
 * Returns whether new values go to narrower key ranges instead of this one, together with all its blocks of this width, which are older. Key ranges
 * that fill at the same rate, as in wide runs, are cut at different times, because each has its own bound between half of `valuesMax` and all of it.
 * @param stored values of all blocks of this width in the key range
 * @param fresh the number of new values
 * @param children how many of the next narrower key ranges the new values touch
 */
export function goesDeeper(
  { valuesMax, childValuesMin }: KeyRangeRules,
  { firstKey, width }: KeyRange,
  stored: number,
  fresh: number,
  children: number,
): boolean {
  if (narrower(width) === undefined) return false;
  if (stored > 0) return stored + fresh > valuesMax * (1 - (((firstKey / width) * GOLDEN_RATIO) % 1) / 2);
  const enough = children <= CHILDREN_SOME ? Math.min(CHILD_VALUES_SOME, childValuesMin) : childValuesMin;
  return children > 0 && (children <= CHILDREN_FEW || fresh >= enough * children);
}

/** A block to write: the parts `[from, to)` of a key range, which are its stored blocks and then the new parts. */
export type Piece = { readonly from: number; readonly to: number };

/**
 * Plans the blocks of a key range: which blocks to write in place of the stored blocks that they cover. A stored block that is rewritten becomes
 * sealed or moves to a higher class, of which there are few, and at most three blocks of each class that are not sealed remain.
 * @param stored the newest blocks of this width, oldest first
 * @param fresh the new parts after them, which are not cut
 */
export function planJoin(rules: KeyRangeRules, stored: readonly Amount[], fresh: readonly Amount[]): Piece[] {
  const first = stored.length - joinedBlocks(rules, stored, pointsOf(fresh));
  const pieces = cut(rules, [...stored.slice(first), ...fresh], first);
  // A block that would not change is not rewritten.
  return pieces.filter(({ from, to }) => to - from > 1 || from >= stored.length);
}

/** Plans to write the new parts after the stored blocks, and leaves the stored blocks for later. */
export function planAppend(rules: KeyRangeRules, stored: readonly Amount[], fresh: readonly Amount[]): Piece[] {
  return cut(rules, fresh, stored.length);
}

/**
 * Plans the blocks of a key range that is probably complete: as few as possible without rewriting much for little. If more points do arrive
 * and then stop again, values are rewritten a number of times that still grows with the logarithm.
 * @param stored the newest blocks of this width, oldest first
 */
export function planComplete(rules: KeyRangeRules, stored: readonly Amount[]): Piece[] {
  let first = stored.length;
  let sum = 0;
  let largest = 0;
  for (let at = stored.length - 1; at >= 0 && stored[at]!.points < sealedPoints(rules); at--) {
    sum += stored[at]!.points;
    largest = Math.max(largest, stored[at]!.points);
    if (largest <= COMPLETE_RATIO * (sum - largest)) first = at;
  }
  return cut(rules, stored.slice(first), first).filter(({ from, to }) => to - from > 1);
}

/** Returns how many of the last blocks are joined with this many new points. */
function joinedBlocks(rules: KeyRangeRules, stored: readonly Amount[], freshPoints: number): number {
  // Without new points the newest block takes their role.
  const own = freshPoints === 0 ? 1 : 0;
  let joined = own;
  let sum = freshPoints === 0 ? (stored.at(-1)?.points ?? 0) : freshPoints;
  const next = (at: number): number | undefined => {
    const points = stored[stored.length - 1 - at]?.points;
    return points === undefined || points >= sealedPoints(rules) ? undefined : points;
  };
  if (own === 1 && next(0) === undefined) return 0;
  for (;;) {
    const before = joined;
    // Otherwise smaller blocks before larger ones would never be joined.
    for (let points = next(joined); points !== undefined && classOf(points) < classOf(sum); points = next(joined)) {
      sum += points;
      joined += 1;
    }
    // The blocks of each class and below it, as far as they reach back.
    let run = sum;
    let count = joined;
    for (let level = classOf(sum); level < classOf(rules.pointsMax); level++) {
      for (let points = next(count); points !== undefined && classOf(points) <= level; points = next(count)) {
        run += points;
        count += 1;
      }
      if (count > joined && classOf(run) > level) {
        sum = run;
        joined = count;
      }
    }
    if (joined === before) break;
  }
  return joined === own ? 0 : joined;
}

/** Cuts parts into blocks, each of as many parts as fit; the first part has the number `from`. */
function cut({ pointsMax, valuesMax }: KeyRangeRules, parts: readonly Amount[], from: number): Piece[] {
  const pieces: Piece[] = [];
  let begin = 0;
  let points = 0;
  let values = 0;
  parts.forEach((part, at) => {
    if (at > begin && (points + part.points > pointsMax || values + part.values > valuesMax)) {
      pieces.push({ from: from + begin, to: from + at });
      begin = at;
      points = values = 0;
    }
    points += part.points;
    values += part.values;
  });
  if (begin < parts.length) pieces.push({ from: from + begin, to: from + parts.length });
  return pieces;
}

function classOf(points: number): number {
  let level = 0;
  for (let bound = CLASS_RATIO; points >= bound; bound *= CLASS_RATIO) level += 1;
  return level;
}

function pointsOf(amounts: readonly Amount[]): number {
  return amounts.reduce((sum, { points }) => sum + points, 0);
}

/** Points to be written as a block of a key range. */
export type NewMetricBlock = KeyRange & Span & { readonly block: EncodedBlock };

/** A change of a run's blocks: the removed and the added ones hold the same points. */
export type MetricBlockChange = {
  /** Landing segments whose points are in the new blocks. */
  readonly segmentIds: readonly number[];
  readonly replaced: readonly MetricBlockFacts[];
  readonly added: readonly NewMetricBlock[];
};
