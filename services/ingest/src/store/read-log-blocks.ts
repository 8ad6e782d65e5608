import { sql, type Db } from "@tidemark/pg";
import type { BlockFacts } from "../domain/log-levels.ts";
import type { LogSource } from "../domain/log-stream.ts";
import { float8Array } from "../writes/binary-array.sql.ts";

const readBlocks = sql("ingest_read_log_blocks", "SELECT block FROM ingest.read_log_blocks($1, $2, $3, $4, $5, $6)");

/** The contents of some blocks, in the order asked for. `db` runs as the worker. @throws Error when one is not there */
export async function readLogBlocks(
  db: Db,
  source: LogSource,
  blocks: readonly Pick<BlockFacts, "level" | "first">[],
): Promise<Uint8Array[]> {
  const rows = await db.rows<{ block: Uint8Array }>(readBlocks, [
    source.orgId,
    source.runId,
    source.stream,
    blocks.map(({ level }) => level),
    float8Array(blocks.map(({ first }) => first.lineNumber)),
    float8Array(blocks.map(({ first }) => first.id)),
  ]);
  // Somebody else has the work by now, or a block was taken away by hand.
  if (rows.length < blocks.length) throw new Error("a log block is not there any more");
  return rows.map(({ block }) => block);
}
