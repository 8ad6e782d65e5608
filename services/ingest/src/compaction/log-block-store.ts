import type { LogColumns } from "@tidemark/log-codec";
import type { BlockChange } from "../domain/block-change.ts";
import type { LogPosition } from "../domain/log-cursor.ts";
import type { BlockFacts } from "../domain/log-levels.ts";

/** The blocks of one stream, as far as a compactor asks for them. */
export type LogBlockStore = {
  /** Of each place and each level, the blocks that begin at or before it, nearest first, up to `blocksMax`. */
  before(places: readonly LogPosition[], blocksMax: number): Promise<BlockFacts[][]>;
  /** The first block of the highest level, if that is `lowestLevel` at least, then those of lower levels that overlap it, up to `blocksMax` a level. */
  atTop(lowestLevel: number, blocksMax: number): Promise<BlockFacts[]>;
  read(blocks: readonly BlockFacts[]): Promise<LogColumns[]>;
  /** All of the change or nothing: false when somebody else has the work by now. */
  replace(change: BlockChange): Promise<boolean>;
};

/** What a step did: how many blocks it wrote; `lost` when somebody else has the work by now. */
export type StepResult = { readonly blocks: number } | "lost";
