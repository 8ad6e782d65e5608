import { chunkSumsOf, decodeBlock } from "@tidemark/metric-codec";
import type { Db } from "@tidemark/pg";
import { listUnsummedBlocks, putBlockSums, type RunOfOrg } from "./metric-blocks.sql.ts";

/** Blocks that are read at a time. */
const BLOCKS_MAX = 32;

/** Adds the sums of their chunks to the blocks of a run that were stored before there were any. Ends after the current step when `isStopping`. */
export async function addSums(
  db: Db,
  run: RunOfOrg,
  turn: () => Promise<void>,
  isStopping: () => boolean,
): Promise<void> {
  while (!isStopping()) {
    const blocks = await listUnsummedBlocks(db, run, BLOCKS_MAX);
    if (blocks.length === 0) return;
    const summed = [];
    for (const { firstKey, firstSeq, data } of blocks) {
      await turn();
      summed.push({ firstKey, firstSeq, sums: chunkSumsOf(decodeBlock(data), firstKey) });
    }
    await putBlockSums(db, run, summed);
  }
}
