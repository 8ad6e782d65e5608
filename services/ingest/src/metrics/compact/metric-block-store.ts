import type { Db } from "@tidemark/pg";
import type { Claim } from "../../compaction/compaction-work.sql.ts";
import { sealedPoints, type MetricBlockChange, type MetricBlockFacts, type KeyRangeRules } from "./key-ranges.rules.ts";
import { listMetricBlockTails, readMetricBlocks, replaceMetricBlocks, type RunOfOrg } from "./metric-blocks.sql.ts";

/** The blocks of one run's metrics, as a compactor sees them. */
export type MetricBlockStore = {
  /** Returns the blocks with these first keys, of all widths: for each key, the blocks newer than its last sealed block. */
  tails(firstKeys: readonly number[]): Promise<MetricBlockFacts[]>;
  /** Returns the encoded contents of blocks, in the order of the blocks. */
  read(blocks: readonly MetricBlockFacts[]): Promise<Uint8Array[]>;
  /** Makes the whole change or none of it. Returns false when another process now has the work. */
  replace(change: MetricBlockChange): Promise<boolean>;
};

/** Returns the store of a run's metric blocks in the database, for the holder of the claim. `db` runs as the worker. */
export function openMetricBlocks(db: Db, run: RunOfOrg, rules: KeyRangeRules, claim: Claim): MetricBlockStore {
  return {
    tails: (firstKeys) => listMetricBlockTails(db, run, firstKeys, sealedPoints(rules)),
    read: (blocks) => readMetricBlocks(db, run, blocks),
    replace: (change) => replaceMetricBlocks(db, run, claim, change),
  };
}
