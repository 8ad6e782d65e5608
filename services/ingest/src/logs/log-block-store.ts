import { decodeLogBlock, type LogColumns } from "@tidemark/codecs/logs";
import type { Db } from "@tidemark/pg";
import type { Claim } from "../compaction/compaction-work.sql.ts";
import { listLogBlocksAtTop, listLogBlocksBefore, readLogBlocks, replaceLogBlocks } from "./log-blocks.sql.ts";
import type { BlockChange, BlockFacts } from "./log-levels.rules.ts";
import type { LogPosition, LogSource } from "./log-page.rules.ts";

/** The blocks of one stream, as a compactor sees them. */
export type LogBlockStore = {
  /** Returns, for each position, the blocks of each level that begin at or before it, nearest first, up to `blocksMax` per level. */
  before(positions: readonly LogPosition[], blocksMax: number): Promise<BlockFacts[][]>;
  /**
   * Returns the first block of the highest level, if that is at least `lowestLevel`, then the lower-level blocks that overlap it, up to `blocksMax`
   * per level.
   */
  atTop(lowestLevel: number, blocksMax: number): Promise<BlockFacts[]>;
  read(blocks: readonly BlockFacts[]): Promise<LogColumns[]>;
  /** Makes the whole change or none of it. Returns false when another process now has the work. */
  replace(change: BlockChange): Promise<boolean>;
};

/** How many blocks a step wrote; `lost` when another process now has the work. */
export type StepResult = { readonly blocks: number } | "lost";

/** Returns the store of a stream's blocks in the database, for the holder of the claim. `db` runs as the worker. */
export function openLogBlocks(db: Db, source: LogSource, claim: Claim): LogBlockStore {
  return {
    before: (positions, blocksMax) => listLogBlocksBefore(db, source, positions, blocksMax),
    atTop: (lowestLevel, blocksMax) => listLogBlocksAtTop(db, source, lowestLevel, blocksMax),
    read: async (blocks) => (await readLogBlocks(db, source, blocks)).map((block) => decodeLogBlock(block)),
    replace: (change) => replaceLogBlocks(db, source, claim, change),
  };
}
