import { sealedPoints, type MetricBlockFacts, type NewMetricBlock, type KeyRangeRules } from "./key-ranges.rules.ts";
import type { MetricBlockStore } from "./metric-block-store.ts";

/** `writes`: the most often that one of its values was written. */
type Stored = { readonly facts: MetricBlockFacts; readonly data: Uint8Array; readonly writes: number };

/** The blocks of one run in memory. They refuse anything that the keys of the database and the guarantees of a compactor exclude. */
export type MemoryMetricStore = MetricBlockStore & {
  /** All blocks, of each key in the order of arrival. */
  stored(): readonly Stored[];
  /** Values that were written, and most values of stored blocks that one change rewrote. */
  readonly effort: { valuesWritten: number; largestRewrite: number };
};

const overlap = (a: MetricBlockFacts, b: MetricBlockFacts): boolean =>
  a.firstKey < b.firstKey + b.width && b.firstKey < a.firstKey + a.width;

function factsOf({ firstKey, width, firstSeq, lastSeq, block }: NewMetricBlock): MetricBlockFacts {
  return { firstKey, width, firstSeq, lastSeq, points: block.points, values: block.valueCount };
}

/** Creates a store without blocks. */
export function createMemoryMetricStore(rules: KeyRangeRules): MemoryMetricStore {
  let all: Stored[] = [];
  const effort = { valuesWritten: 0, largestRewrite: 0 };
  const find = ({ firstKey, firstSeq }: MetricBlockFacts): Stored => {
    const found = all.find(({ facts }) => facts.firstKey === firstKey && facts.firstSeq === firstSeq);
    if (found === undefined) throw new Error("a block that is not there was asked for");
    return found;
  };

  return {
    effort,
    stored: () => all,
    tails: (firstKeys) =>
      Promise.resolve(
        firstKeys.flatMap((firstKey) => {
          const own = all.map(({ facts }) => facts).filter((facts) => facts.firstKey === firstKey);
          const sealed = own.findLastIndex(({ width, points }) => width === 16 && points >= sealedPoints(rules));
          return own.slice(sealed + 1);
        }),
      ),
    read: (blocks) => Promise.resolve(blocks.map((block) => find(block).data)),
    replace({ replaced, added }) {
      const gone = new Set(replaced.map(find));
      if (gone.size < replaced.length) throw new Error("a block was replaced twice");
      const kept = all.filter((stored) => !gone.has(stored));
      const fresh = added.map((block): Stored => {
        const facts = factsOf(block);
        const before = [...gone].filter((old) => overlap(old.facts, facts)).map(({ writes }) => writes);
        return { facts, data: block.block.data, writes: Math.max(0, ...before) + 1 };
      });
      effort.valuesWritten += fresh.reduce((sum, { facts }) => sum + facts.values, 0);
      effort.largestRewrite = Math.max(
        effort.largestRewrite,
        [...gone].reduce((sum, { facts }) => sum + facts.values, 0),
      );
      all = [...kept, ...fresh].sort(
        (a, b) => a.facts.firstSeq - b.facts.firstSeq || a.facts.firstKey - b.facts.firstKey,
      );
      checkOrder(all.map(({ facts }) => facts));
      return Promise.resolve(true);
    },
  };
}

/** For any key, blocks are disjoint in their order of arrival, and those of a narrower key range come before those of a wider one. */
function checkOrder(blocks: readonly MetricBlockFacts[]): void {
  blocks.forEach((block, i) => {
    if (block.firstKey % block.width !== 0) throw new Error("a block does not match its keyRange");
    for (const next of blocks.slice(i + 1)) {
      if (!overlap(block, next)) continue;
      if (next.firstSeq <= block.lastSeq) throw new Error("two blocks of a key overlap");
      if (next.width < block.width) throw new Error("a narrow block is newer than a wide one");
    }
  });
}
