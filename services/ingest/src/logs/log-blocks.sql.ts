import { countOf, encodeLogBlock, messageBytesOf, positionAt } from "@tidemark/codecs/logs";
import { byteaArray, type Db, float8Array, sql } from "@tidemark/pg";
import { rowCounterOf, type Claim } from "../compaction/compaction-work.sql.ts";
import type { BlockChange, BlockFacts } from "./log-levels.rules.ts";
import type { LogPosition, LogSource } from "./log-page.rules.ts";

/** A landing segment of console lines. */
export type LogSegment = {
  readonly id: number;
  /** Microseconds since the Unix epoch. */
  readonly receivedUs: number;
  readonly ageSeconds: number;
  readonly block: Uint8Array;
};

const listWaiting = sql(
  "ingest_waiting_log_rows",
  `SELECT id, received_us AS "receivedUs", age_seconds AS "ageSeconds", block
   FROM ingest.waiting_log_rows($1, $2, $3, $4, $5, $6)`,
);

/**
 * Returns landing segments of a stream by arrival, none younger than `restSeconds`: up to `rowsMax`, or up to the one with which their messages
 * reach `bytesMax` bytes. `db` runs as the worker.
 */
export function listLogSegments(
  db: Db,
  source: LogSource,
  bounds: { readonly restSeconds: number; readonly rowsMax: number; readonly bytesMax: number },
): Promise<LogSegment[]> {
  const { restSeconds, rowsMax, bytesMax } = bounds;
  return db.rows(listWaiting, [source.orgId, source.runId, source.stream, restSeconds, rowsMax, bytesMax]);
}

/** Returns about how many landing segments of console lines wait, across all organizations. */
export const countLogSegments = rowCounterOf("log_segments");

type LogBlockRow = {
  level: number;
  firstLine: number;
  firstId: number;
  lastLine: number;
  lastId: number;
  lines: number;
  messageBytes: number;
};

const COLUMNS = `level, first_line AS "firstLine", first_id AS "firstId", last_line AS "lastLine", last_id AS "lastId",
          lines, message_bytes AS "messageBytes"`;

const listBefore = sql(
  "ingest_log_blocks_before",
  `SELECT index, ${COLUMNS} FROM ingest.log_blocks_before($1, $2, $3, $4, $5, $6)`,
);

/** Returns, for each position, the blocks of each level that begin at or before it, nearest first. `db` runs as the worker. */
export async function listLogBlocksBefore(
  db: Db,
  source: LogSource,
  positions: readonly LogPosition[],
  blocksMax: number,
): Promise<BlockFacts[][]> {
  const rows = await db.rows<LogBlockRow & { index: number }>(listBefore, [
    source.orgId,
    source.runId,
    source.stream,
    float8Array(positions.map(({ lineNumber }) => lineNumber)),
    float8Array(positions.map(({ id }) => id)),
    blocksMax,
  ]);
  const blocks: BlockFacts[][] = positions.map(() => []);
  for (const row of rows) blocks[row.index]!.push(factsOf(row));
  return blocks;
}

const listAtTop = sql(
  "ingest_log_blocks_at_top",
  `SELECT ${COLUMNS} FROM ingest.log_blocks_at_top($1, $2, $3, $4, $5)`,
);

/**
 * Returns the first block of the highest level, if that is at least `lowestLevel`, then the lower-level blocks that overlap it, up to `blocksMax`
 * of each level. `db` runs as the worker.
 */
export async function listLogBlocksAtTop(
  db: Db,
  source: LogSource,
  lowestLevel: number,
  blocksMax: number,
): Promise<BlockFacts[]> {
  const rows = await db.rows<LogBlockRow>(listAtTop, [
    source.orgId,
    source.runId,
    source.stream,
    lowestLevel,
    blocksMax,
  ]);
  return rows.map(factsOf);
}

function factsOf({ level, firstLine, firstId, lastLine, lastId, lines, messageBytes }: LogBlockRow): BlockFacts {
  return {
    level,
    first: { lineNumber: firstLine, id: firstId },
    last: { lineNumber: lastLine, id: lastId },
    lines,
    messageBytes,
  };
}

const readBlocks = sql("ingest_read_log_blocks", "SELECT block FROM ingest.read_log_blocks($1, $2, $3, $4, $5, $6)");

/** Returns the contents of the given blocks, in their order. `db` runs as the worker. @throws Error when one of them does not exist */
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
  // Another process now has the work, or a person deleted a block.
  if (rows.length < blocks.length) throw new Error("a log block is not there any more");
  return rows.map(({ block }) => block);
}

const replaceBlocks = sql(
  "ingest_replace_log_blocks",
  `SELECT ingest.replace_log_blocks($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) AS held`,
);

/**
 * Replaces landing segments and blocks with blocks that hold the same lines: one transaction, all or nothing. Prolongs the claim; returns false,
 * and does nothing, when the claim no longer holds. `db` runs as the worker.
 */
export async function replaceLogBlocks(
  db: Db,
  source: LogSource,
  claim: Claim,
  { segmentIds, replaced, added }: BlockChange,
): Promise<boolean> {
  const firsts = added.map(({ columns }) => positionAt(columns, 0));
  const lasts = added.map(({ columns }) => positionAt(columns, countOf(columns) - 1));
  const row = await db.one<{ held: boolean }>(replaceBlocks, [
    source.orgId,
    source.runId,
    source.stream,
    claim.fence,
    claim.leaseSeconds,
    float8Array(segmentIds),
    replaced.map(({ level }) => level),
    float8Array(replaced.map(({ first }) => first.lineNumber)),
    float8Array(replaced.map(({ first }) => first.id)),
    added.map(({ level }) => level),
    float8Array(firsts.map(({ lineNumber }) => lineNumber)),
    float8Array(firsts.map(({ id }) => id)),
    float8Array(lasts.map(({ lineNumber }) => lineNumber)),
    float8Array(lasts.map(({ id }) => id)),
    added.map(({ columns }) => countOf(columns)),
    added.map(({ columns }) => messageBytesOf(columns)),
    byteaArray(added.map(({ columns }) => encodeLogBlock(columns, { compressFrom: 0 }))),
  ]);
  return row!.held;
}
