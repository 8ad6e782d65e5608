import { compareKeyBytes } from "@tidemark/metric-codec";
import { createFirstPoints, type FirstPoints, type Points } from "./first-points.ts";

/** The first points of a run over all its keys. */
export type FirstKeys = {
  /** Where points of this key go; undefined when none of them can be among the first any more, nor of any later key. */
  collector(key: string): FirstPoints | undefined;
  /** To be called now and then, between two blocks: lets go of keys that came too late in the order. */
  prune(): void;
  /**
   * The first `max` points, at most the capacity less one, by key (UTF-8 bytes), step and arrival, and
   * whether there are more. Keys without any are left out.
   */
  take(max: number): { readonly keys: readonly KeyPoints[]; readonly more: boolean };
};

/** Points of one key. */
export type KeyPoints = { readonly key: string; readonly points: Points };

/**
 * Keeps the first `capacity` points by key, step and arrival out of any number that pass by. Memory
 * is bounded by the capacity and by what comes between two calls of `prune`, not by the run.
 */
export function createFirstKeys(capacity: number): FirstKeys {
  const collectors = new Map<string, FirstPoints>();
  /** The last key that can still have points among the first. */
  let last: string | undefined;

  const sorted = (): string[] => [...collectors.keys()].sort(compareKeyBytes);

  return {
    collector(key) {
      if (last !== undefined && compareKeyBytes(key, last) > 0) return undefined;
      let collector = collectors.get(key);
      if (collector === undefined) {
        collector = createFirstPoints(capacity);
        collectors.set(key, collector);
      }
      return collector;
    },
    prune() {
      let points = 0;
      for (const key of sorted()) {
        if (points >= capacity) collectors.delete(key);
        else {
          points += collectors.get(key)!.count();
          if (points >= capacity) last = key;
        }
      }
    },
    take(max) {
      const keys: KeyPoints[] = [];
      let left = max;
      for (const key of sorted()) {
        const collector = collectors.get(key)!;
        const count = collector.count();
        if (count > 0 && left > 0) keys.push({ key, points: collector.take(left) });
        if (count > left) return { keys, more: true };
        left -= count;
      }
      return { keys, more: false };
    },
  };
}
