import {
  comparePositions,
  countOf,
  decodeLogBlock,
  encodeLogBlock,
  messageBytesOf,
  positionAt,
} from "@tidemark/codecs/logs";
import type { LogBlockStore } from "./arrange-log-lines.ts";
import type { BlockFacts, NewBlock } from "./log-levels.rules.ts";
import type { LogPosition } from "./log-page.rules.ts";

type Stored = { readonly facts: BlockFacts; readonly block: Uint8Array };

/** The blocks of one stream in memory. They refuse anything that the keys of the database and the guarantees of a compactor exclude. */
export type MemoryBlockStore = LogBlockStore & {
  stored(): readonly Stored[];
  /** Bytes of messages that were read, in total and at most in one call. */
  readonly effort: { bytesRead: number; largestRead: number };
};

function store({ level, columns }: NewBlock): Stored {
  const facts: BlockFacts = {
    level,
    first: positionAt(columns, 0),
    last: positionAt(columns, countOf(columns) - 1),
    lines: countOf(columns),
    messageBytes: messageBytesOf(columns),
  };
  return { facts, block: encodeLogBlock(columns, { compressFrom: Infinity }) };
}

/** Creates a store without blocks. */
export function createMemoryBlockStore(): MemoryBlockStore {
  let all: Stored[] = [];
  const effort = { bytesRead: 0, largestRead: 0 };
  const find = ({ level, first }: Pick<BlockFacts, "level" | "first">): Stored => {
    const found = all.find(({ facts }) => facts.level === level && comparePositions(facts.first, first) === 0);
    if (found === undefined) throw new Error("a block that is not there was asked for");
    return found;
  };
  const atOrBefore = (level: number, position: LogPosition, blocksMax: number): BlockFacts[] =>
    all
      .map(({ facts }) => facts)
      .filter((facts) => facts.level === level && comparePositions(facts.first, position) <= 0)
      .sort((a, b) => comparePositions(b.first, a.first))
      .slice(0, blocksMax);
  const highest = (): number => Math.max(-1, ...all.map(({ facts }) => facts.level));

  return {
    effort,
    stored: () => all,
    before: (positions, blocksMax) =>
      Promise.resolve(
        positions.map((position) =>
          Array.from({ length: highest() + 1 }, (_, level) => atOrBefore(level, position, blocksMax)).flat(),
        ),
      ),
    atTop(lowestLevel, blocksMax) {
      const level = highest();
      if (level < lowestLevel) return Promise.resolve([]);
      const [top] = all
        .map(({ facts }) => facts)
        .filter((facts) => facts.level === level)
        .sort((a, b) => comparePositions(a.first, b.first));
      const below = Array.from({ length: level }, (_, lower) => atOrBefore(lower, top!.last, blocksMax)).flat();
      return Promise.resolve([top!, ...below.filter(({ last }) => comparePositions(last, top!.first) >= 0)]);
    },
    read(blocks) {
      const bytes = blocks.reduce((sum, { messageBytes }) => sum + messageBytes, 0);
      effort.bytesRead += bytes;
      effort.largestRead = Math.max(effort.largestRead, bytes);
      return Promise.resolve(blocks.map((block) => decodeLogBlock(find(block).block)));
    },
    replace({ replaced, added }) {
      const gone = new Set(replaced.map(find));
      if (gone.size < replaced.length) throw new Error("a block was replaced twice");
      all = [...all.filter((stored) => !gone.has(stored)), ...added.map(store)];
      return Promise.resolve(true);
    },
  };
}
