import type { LogColumns } from "@tidemark/log-codec";
import type { BlockFacts } from "./log-levels.ts";

/** Lines that become a block of a level. */
export type NewBlock = { readonly level: number; readonly columns: LogColumns };

/** A change of a stream's blocks: what goes and what comes, which hold the same lines. */
export type BlockChange = {
  /** Landing rows whose lines are in the new blocks. */
  readonly landingIds: readonly number[];
  readonly replaced: readonly BlockFacts[];
  readonly added: readonly NewBlock[];
};
