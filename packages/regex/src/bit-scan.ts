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

/** For sets of one word: all followers are looked up by eight positions, so their shape does not matter. */
export function createScanOfOne(masks: BitMasks, { accept, entering, runs }: ScanContext): Scan {
  const tables = new Int32Array(1024);
  const { blockOf, exceptional, followers, restart, reach } = masks;
  blockOf.forEach((base, block) => {
    // A block without followers has no table of its own.
    if (((exceptional[0]! >>> (block * 8)) & 255) !== 0) tables.set(followers.subarray(base, base + 256), block * 256);
  });
  for (let i = 0; i < 256; i++) tables[i]! |= restart[0]!;
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
