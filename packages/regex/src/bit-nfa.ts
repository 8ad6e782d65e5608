import type { Automaton } from "./automaton.ts";
import { createBitMasks } from "./bit-masks.ts";
import { createScanOfEight } from "./bit-scan-eight.ts";
import { createScanOfFour } from "./bit-scan-four.ts";
import { createScanOfOne, createScanOfTwo } from "./bit-scan.ts";
import type { ClassReader } from "./class-reader.ts";
import { createRunCounters, resetRuns } from "./run-counters.ts";

/**
 * A nondeterministic automaton whose live positions are the bits of a few words. No text makes it slower than its masks
 * promise, and it needs no memory that grows.
 */
export type BitNfa = {
  /** What a character costs at most; see {@link createBitMasks}. */
  readonly cost: number;
  /** Searches the reader's text. */
  search(reader: ClassReader): boolean;
};

/** Makes the automaton's bit form; nothing when it has more positions than that can have. */
export function createBitNfa(automaton: Automaton): BitNfa | undefined {
  const masks = createBitMasks(automaton);
  if (masks === undefined) return undefined;
  const classCount = automaton.reach.length / automaton.words;
  const runs = createRunCounters(automaton.counters, classCount);
  const entering = automaton.counters.reduce((all, { enter }) => all | enter, 0);
  const createScan = { 1: createScanOfOne, 2: createScanOfTwo, 4: createScanOfFour, 8: createScanOfEight }[masks.words];
  const scan = createScan(masks, { accept: automaton.accept, entering, runs });
  const live = new Int32Array(masks.words);
  return {
    cost: masks.cost,
    search(reader) {
      live.set(masks.start);
      resetRuns(runs, 0);
      let at = 0;
      for (let length = reader.next(); length > 0; length = reader.next()) {
        if (scan(live, reader.classes, length, at)) return true;
        at += length;
      }
      return false;
    },
  };
}
