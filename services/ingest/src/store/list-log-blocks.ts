import { sql, type Db } from "@tidemark/pg";
import type { LogPosition } from "../domain/log-cursor.ts";
import type { BlockFacts } from "../domain/log-levels.ts";
import type { LogSource } from "../domain/log-stream.ts";
import { float8Array } from "../writes/binary-array.sql.ts";

type Row = {
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
  `SELECT place, ${COLUMNS} FROM ingest.log_blocks_before($1, $2, $3, $4, $5, $6)`,
);

/** Of each place and each level, the blocks that begin at or before it, nearest first. `db` runs as the worker. */
export async function listLogBlocksBefore(
  db: Db,
  source: LogSource,
  places: readonly LogPosition[],
  blocksMax: number,
): Promise<BlockFacts[][]> {
  const rows = await db.rows<Row & { place: number }>(listBefore, [
    source.orgId,
    source.runId,
    source.stream,
    float8Array(places.map(({ lineNumber }) => lineNumber)),
    float8Array(places.map(({ id }) => id)),
    blocksMax,
  ]);
  const blocks: BlockFacts[][] = places.map(() => []);
  for (const row of rows) blocks[row.place]!.push(factsOf(row));
  return blocks;
}

const listAtTop = sql(
  "ingest_log_blocks_at_top",
  `SELECT ${COLUMNS} FROM ingest.log_blocks_at_top($1, $2, $3, $4, $5)`,
);

/**
 * The first block of the highest level, if that is `lowestLevel` at least, and those of lower levels that overlap it, up to `blocksMax` of each.
 * `db` runs as the worker.
 */
export async function listLogBlocksAtTop(
  db: Db,
  source: LogSource,
  lowestLevel: number,
  blocksMax: number,
): Promise<BlockFacts[]> {
  const rows = await db.rows<Row>(listAtTop, [source.orgId, source.runId, source.stream, lowestLevel, blocksMax]);
  return rows.map(factsOf);
}

function factsOf({ level, firstLine, firstId, lastLine, lastId, lines, messageBytes }: Row): BlockFacts {
  return {
    level,
    first: { lineNumber: firstLine, id: firstId },
    last: { lineNumber: lastLine, id: lastId },
    lines,
    messageBytes,
  };
}
