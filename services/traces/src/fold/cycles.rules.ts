import type { SpanTable } from "./span-table.rules.ts";

/** Finds out whether changes of parents closed a cycle, without looking at unaffected spans. */
export type CycleSearch = {
  /** Notes a span whose parent changed, or that arrived after its own children. */
  suspect(span: number): void;
  /** Returns whether one of the suspects is on a cycle. Takes a walk towards the root for each, over each span once. */
  found(): boolean;
  /** Forgets the suspects. */
  forget(): void;
};

/** Creates a search without suspects. */
export function createCycleSearch(table: SpanTable): CycleSearch {
  const suspects = new Set<number>();
  return {
    suspect: (span) => void suspects.add(span),
    found() {
      const passed = new Set<number>();
      for (const suspect of suspects) {
        const walk = new Set<number>();
        for (let span = suspect; span !== -1 && !passed.has(span); span = parentOf(table, span)) {
          if (walk.has(span)) return true;
          walk.add(span);
        }
        for (const span of walk) passed.add(span);
      }
      return false;
    },
    forget: () => suspects.clear(),
  };
}

/** Returns a span of each chain of parents that leads back to its beginning. Looks at each span once. */
export function findCycles(table: SpanTable): number[] {
  const { count } = table.ids;
  /** The walk in which a span was passed first, from 1. */
  const walks = new Uint32Array(count);
  const cycles: number[] = [];
  for (let first = 0; first < count; first++) {
    let span = first;
    while (span !== -1 && walks[span] === 0) {
      walks[span] = first + 1;
      span = parentOf(table, span);
    }
    if (span !== -1 && walks[span] === first + 1) cycles.push(span);
  }
  return cycles;
}

/** Returns the parent of a span; -1 where it has none among the spans. */
export function parentOf({ ids, columns }: SpanTable, span: number): number {
  const [high, low] = [columns.parentHigh[span]!, columns.parentLow[span]!];
  return high === 0 && low === 0 ? -1 : ids.find(high, low);
}
