import { decodeLogBlock } from "@tidemark/log-codec";
import type { Db } from "@tidemark/pg";
import type { LogSource } from "../domain/log-stream.ts";
import { listLogBlocksAtTop, listLogBlocksBefore } from "../store/list-log-blocks.ts";
import { readLogBlocks } from "../store/read-log-blocks.ts";
import { replaceLogBlocks } from "../store/replace-log-blocks.ts";
import type { LogBlockStore } from "./log-block-store.ts";

/** The blocks of a stream in the database, for whoever holds this claim. `db` runs as the worker. */
export function openLogBlocks(
  db: Db,
  source: LogSource,
  claim: { readonly fence: string; readonly leaseSeconds: number },
): LogBlockStore {
  return {
    before: (places, blocksMax) => listLogBlocksBefore(db, source, places, blocksMax),
    atTop: (lowestLevel, blocksMax) => listLogBlocksAtTop(db, source, lowestLevel, blocksMax),
    read: async (blocks) => (await readLogBlocks(db, source, blocks)).map((block) => decodeLogBlock(block)),
    replace: (change) => replaceLogBlocks(db, source, claim, change),
  };
}
