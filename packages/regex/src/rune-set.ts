/** The highest code point of Unicode. */
export const MAX_RUNE = 0x10_ff_ff;

/**
 * A set of code points: inclusive ranges `[lo, hi, lo, hi, …]`, ascending, none touching the next.
 * Sets of one {@link RuneSets} are interned, so equal sets are the same object.
 */
export type RuneSet = { readonly id: number; readonly ranges: readonly number[] };

/** The sets of one pattern. `of` takes ranges in any order, overlapping or not. */
export type RuneSets = {
  of(ranges: ArrayLike<number>): RuneSet;
};

function merged(ranges: ArrayLike<number>): number[] {
  const pairs: [lo: number, hi: number][] = [];
  for (let i = 0; i + 1 < ranges.length; i += 2) pairs.push([ranges[i]!, ranges[i + 1]!]);
  pairs.sort(([a], [b]) => a - b);
  const out: number[] = [];
  for (const [lo, hi] of pairs) {
    const end = out.length - 1;
    if (end > 0 && lo <= out[end]! + 1) out[end] = Math.max(out[end]!, hi);
    else out.push(lo, hi);
  }
  return out;
}

/** Makes the collection that interns the sets of one pattern. */
export function createRuneSets(): RuneSets {
  const known = new Map<string, RuneSet>();
  return {
    of(given) {
      const ranges = merged(given);
      const key = ranges.join();
      const set = known.get(key) ?? { id: known.size, ranges };
      known.set(key, set);
      return set;
    },
  };
}
