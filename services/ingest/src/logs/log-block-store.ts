import { decodeLogBlock, type LogColumns } from "@tidemark/log-codec";
import type { Db } from "@tidemark/pg";
import type { Claim } from "../compaction/compaction-work.sql.ts";
import { listLogBlocksAtTop, listLogBlocksBefore, readLogBlocks, replaceLogBlocks } from "./log-blocks.sql.ts";
import type { BlockChange, BlockFacts } from "./log-levels.rules.ts";
import type { LogPosition, LogSource } from "./log-page.rules.ts";

/** The blocks of one stream, as far as a compactor asks for them. */
export type LogBlockStore = {
  /** Returns, for each position, the blocks of each level that begin at or before it, nearest first, up to `blocksMax` a level. */
  before(positions: readonly LogPosition[], blocksMax: number): Promise<BlockFacts[][]>;
  /**
   * Returns the first block of the highest level, if that is at least `lowestLevel`, then those of lower levels that overlap it, up to `blocksMax`
   * a level.
   */
  atTop(lowestLevel: number, blocksMax: number): Promise<BlockFacts[]>;
  read(blocks: readonly BlockFacts[]): Promise<LogColumns[]>;
  /** Makes all of the change or nothing of it. Returns false when another process has the work by now. */
  replace(change: BlockChange): Promise<boolean>;
};

/** How many blocks a step wrote; `lost` when another process has the work by now. */
export type StepResult = { readonly blocks: number } | "lost";

/** Returns the blocks of a stream in the database, for the holder of the claim. `db` runs as the worker. */
export function openLogBlocks(db: Db, source: LogSource, claim: Claim): LogBlockStore {
  return {
    before: (positions, blocksMax) => listLogBlocksBefore(db, source, positions, blocksMax),
    atTop: (lowestLevel, blocksMax) => listLogBlocksAtTop(db, source, lowestLevel, blocksMax),
    read: async (blocks) => (await readLogBlocks(db, source, blocks)).map((block) => decodeLogBlock(block)),
    replace: (change) => replaceLogBlocks(db, source, claim, change),
  };
}
