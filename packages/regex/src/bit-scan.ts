import type { BitMasks } from "./bit-masks.ts";
import { mayRun, readRuns, resetRuns, type RunCounters } from "./run-counters.ts";

/** What a scan needs besides the masks: the bits of word 0 that mean something, and the counters that they move. */
export type ScanContext = {
  readonly accept: number;
  readonly entering: number;
  readonly runs: RunCounters;
};

/**
 * Moves the live set `live` over the first `length` classes, of which the first is at place `at` of the text. Returns
 * whether the automaton has matched.
 */
export type Scan = (live: Int32Array, classes: Uint16Array, length: number, at: number) => boolean;

/** Tables of what can follow each choice among eight positions, for all of them; the restart is in the first. */
function tablesOf({ words, blockOf, exceptional, followers, restart }: BitMasks): Int32Array {
  const tables = new Int32Array(blockOf.length * 256 * words);
  blockOf.forEach((base, block) => {
    // A block without followers has no table of its own.
    const own = (exceptional[block >> 2]! >>> ((block & 3) * 8)) & 255;
    if (own !== 0) tables.set(followers.subarray(base, base + 256 * words), block * 256 * words);
  });
  for (let i = 0; i < 256 * words; i++) tables[i]! |= restart[i % words]!;
  return tables;
}

/** For sets of one word. */
export function createScanOfOne(masks: BitMasks, { accept, entering, runs }: ScanContext): Scan {
  const tables = tablesOf(masks);
  const { reach } = masks;
  const special = accept | entering;
  return (live, classes, length, at) => {
    let counting = mayRun(runs, at);
    let set = live[0]!;
    for (let i = 0; i < length; i++) {
      const cls = classes[i]!;
      set =
        (tables[set & 255]! |
          tables[256 | ((set >>> 8) & 255)]! |
          tables[512 | ((set >>> 16) & 255)]! |
          tables[768 | (set >>> 24)]!) &
        reach[cls]!;
      if (counting || (set & special) !== 0) {
        if ((set & accept) !== 0) return true;
        if (!counting) resetRuns(runs, at + i);
        set |= readRuns(runs, cls, at + i, set & entering);
        // To go on counting for a while does no harm.
        counting = (i & 63) !== 0 || mayRun(runs, at + i);
      }
    }
    live[0] = set;
    return false;
  };
}

/** For sets of two words. */
export function createScanOfTwo(masks: BitMasks, { accept, entering, runs }: ScanContext): Scan {
  // One table for each word of what follows, so that one index does for both.
  const both = tablesOf(masks);
  const first = both.filter((_, i) => i % 2 === 0);
  const second = both.filter((_, i) => i % 2 === 1);
  const { reach } = masks;
  const special = accept | entering;
  return (live, classes, length, at) => {
    let counting = mayRun(runs, at);
    let a = live[0]!;
    let b = live[1]!;
    for (let i = 0; i < length; i++) {
      const cls = classes[i]!;
      const i0 = a & 255;
      const i1 = 256 | ((a >>> 8) & 255);
      const i2 = 512 | ((a >>> 16) & 255);
      const i3 = 768 | (a >>> 24);
      const i4 = 1024 | (b & 255);
      const i5 = 1280 | ((b >>> 8) & 255);
      const i6 = 1536 | ((b >>> 16) & 255);
      const i7 = 1792 | (b >>> 24);
      const na = first[i0]! | first[i1]! | first[i2]! | first[i3]! | first[i4]! | first[i5]! | first[i6]! | first[i7]!;
      const nb =
        second[i0]! | second[i1]! | second[i2]! | second[i3]! | second[i4]! | second[i5]! | second[i6]! | second[i7]!;
      a = na & reach[cls << 1]!;
      b = nb & reach[(cls << 1) | 1]!;
      if (counting || (a & special) !== 0) {
        if ((a & accept) !== 0) return true;
        if (!counting) resetRuns(runs, at + i);
        a |= readRuns(runs, cls, at + i, a & entering);
        counting = (i & 63) !== 0 || mayRun(runs, at + i);
      }
    }
    live[0] = a;
    live[1] = b;
    return false;
  };
}
