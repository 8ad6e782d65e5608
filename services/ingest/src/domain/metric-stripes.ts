import { KEY_RANGE_WIDTHS } from "@tidemark/metric-codec";

/*
 * Where blocks of metrics go. Keys are numbered in the order in which they appeared; a block covers a stripe of 16, 256 or 4,096 neighbours. What has
 * landed goes into wide stripes while each key has few points, and moves to narrower ones as points come, so that a block always holds a useful
 * amount. Within a stripe, blocks of like size are joined. For any key the blocks of a narrower stripe are all older than those of a wider one, and
 * all blocks are disjoint in their order of arrival. Everything here looks at the newest blocks of a stripe alone, never at a whole run.
 */

/** The widths of stripes, widest first. */
export const STRIPE_WIDTHS = KEY_RANGE_WIDTHS;

/** How many neighbouring keys a stripe covers. */
export type StripeWidth = (typeof STRIPE_WIDTHS)[number];

/** A stripe of a run's keys: ids from `firstKey`, a multiple of the width. */
export type Stripe = { readonly firstKey: number; readonly width: StripeWidth };

/** Some points that arrived one after another, by the landing rows that brought them. */
export type Span = { readonly firstSeq: number; readonly lastSeq: number };

/** How much there is of a span: points, which several keys share, and values. */
export type Amount = { readonly points: number; readonly values: number };

/** A stored block without its contents. Its first key and its first seq name it. */
export type MetricBlockFacts = Stripe & Span & Amount;

/** How blocks are cut, joined and moved. */
export type StripeRules = {
  /** Most points of one block. A block of half as many is sealed, never joined with others; two smaller ones can always be joined. */
  readonly pointsMax: number;
  /** A stripe that would hold more values in blocks of its own width is cut into narrower ones. At least what a narrow block of `pointsMax` points may hold. */
  readonly valuesMax: number;
  /** Narrower stripes are taken at once where each of them gets so many values. */
  readonly childValuesMin: number;
};

/** A sealed block of a narrow stripe is then at most half a megabyte, and one chunk of a key at most 32 KB. */
export const STRIPE_RULES: StripeRules = { pointsMax: 4096, valuesMax: 65_536, childValuesMin: 2048 };

/** Its multiples are spread evenly between whole numbers, however many of them are taken (Knuth, The Art of Computer Programming 3, 6.4). */
const GOLDEN_RATIO = (1 + Math.sqrt(5)) / 2;
/** Narrower stripes are taken at once where there are so few of them, */
const CHILDREN_FEW = 2;
/** or a few more, each with so many values that its block does not consist of its directory. */
const CHILDREN_SOME = 4;
const CHILD_VALUES_SOME = 64;
/** Blocks are joined when together they are of the next class; a class holds blocks of up to so many times the points of the class below. */
const CLASS_RATIO = 4;

/** Where nothing more comes, blocks are joined if the others have a fourth of the points of the largest. */
const SETTLED_RATIO = 4;

/** The stripe of this width that a key lies in. */
export function stripeOf(keyId: number, width: StripeWidth): Stripe {
  return { firstKey: keyId - (keyId % width), width };
}

/** The next narrower width; undefined of the narrowest. */
export function narrower(width: StripeWidth): StripeWidth | undefined {
  return STRIPE_WIDTHS[STRIPE_WIDTHS.indexOf(width) + 1];
}

/** So many points seal a block: it is not joined with others any more. */
export function sealedPoints({ pointsMax }: StripeRules): number {
  return pointsMax / 2;
}

/** Whether a block of so many points stays as it is, and so is worth the best encoding. */
export function isFinal(rules: StripeRules, width: StripeWidth, points: number): boolean {
  return narrower(width) === undefined && points >= sealedPoints(rules);
}

/**
 * Whether new values go to narrower stripes instead of this one, and all blocks of this width with them, which are older. Stripes that fill alike, as
 * those of wide runs do, are cut at different times, because each has a bound of its own between half of `valuesMax` and all of it.
 * @param stored values of all blocks of this width in the stripe
 * @param fresh values that come
 * @param children how many of the next narrower stripes the new values touch
 */
export function goesDeeper(
  { valuesMax, childValuesMin }: StripeRules,
  { firstKey, width }: Stripe,
  stored: number,
  fresh: number,
  children: number,
): boolean {
  if (narrower(width) === undefined) return false;
  if (stored > 0) return stored + fresh > valuesMax * (1 - (((firstKey / width) * GOLDEN_RATIO) % 1) / 2);
  const enough = children <= CHILDREN_SOME ? Math.min(CHILD_VALUES_SOME, childValuesMin) : childValuesMin;
  return children > 0 && (children <= CHILDREN_FEW || fresh >= enough * children);
}

/** A block to write: the parts `[from, to)` of all that a stripe has, its stored blocks and then the new parts. */
export type Piece = { readonly from: number; readonly to: number };

/**
 * Plans the blocks of a stripe: which ones are written, in place of the stored blocks that they cover. A stored block that is rewritten is sealed
 * by it or comes into a higher class, of which there are few, and of each class at most three blocks that are not sealed remain.
 * @param stored the newest blocks of this width, oldest first
 * @param fresh what comes behind them, in parts that are not cut
 */
export function planJoin(rules: StripeRules, stored: readonly Amount[], fresh: readonly Amount[]): Piece[] {
  const first = stored.length - joinedBlocks(rules, stored, pointsOf(fresh));
  const pieces = cut(rules, [...stored.slice(first), ...fresh], first);
  // What would stay as it is is not rewritten.
  return pieces.filter(({ from, to }) => to - from > 1 || from >= stored.length);
}

/** Writes the new parts behind what is stored and leaves that for later. */
export function planAppend(rules: StripeRules, stored: readonly Amount[], fresh: readonly Amount[]): Piece[] {
  return cut(rules, fresh, stored.length);
}

/**
 * Plans the blocks of a stripe that nothing more may come to: as few as can be had without rewriting much for little. If something comes after
 * all, and then nothing again, values are rewritten a number of times that still grows with the logarithm.
 * @param stored the newest blocks of this width, oldest first
 */
export function planSettled(rules: StripeRules, stored: readonly Amount[]): Piece[] {
  let first = stored.length;
  let sum = 0;
  let largest = 0;
  for (let at = stored.length - 1; at >= 0 && stored[at]!.points < sealedPoints(rules); at--) {
    sum += stored[at]!.points;
    largest = Math.max(largest, stored[at]!.points);
    if (largest <= SETTLED_RATIO * (sum - largest)) first = at;
  }
  return cut(rules, stored.slice(first), first).filter(({ from, to }) => to - from > 1);
}

/** How many of the last blocks are joined with so many new points. */
function joinedBlocks(rules: StripeRules, stored: readonly Amount[], freshPoints: number): number {
  // Without anything new the newest block stands for it.
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
    // Smaller ones before larger ones would never be joined otherwise.
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

/** Cuts parts into blocks of as many of them as fit; the first part is number `from`. */
function cut({ pointsMax, valuesMax }: StripeRules, parts: readonly Amount[], from: number): Piece[] {
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
