import { sql, type Tx } from "@tidemark/pg";
import type { LogPosition } from "../domain/log-cursor.ts";
import type { LogSource } from "../domain/log-stream.ts";

/**
 * A piece of a stream as it is stored, in either tier. `place` is that of its first line, in a tail of its last; no line of it lies before it, in
 * a tail none behind it. A null block, in the last row, says that there are more segments, which begin (end) there.
 */
export type LogSegment = LogPosition & {
  /** What is added to the ids and the times of arrival that the block holds. */
  readonly baseId: number;
  readonly baseUs: number;
  readonly block: Uint8Array | null;
};

/** How much of a stream one statement gives. */
export type SegmentBounds = {
  /** As many lines as are wanted, by estimate. */
  readonly linesMax: number;
  /** Bytes as stored, but one segment at least. */
  readonly bytesMax: number;
  /** Blocks of one level. */
  readonly blocksMax: number;
};

const segmentsAfter = sql(
  "ingest_log_segments_after",
  `SELECT first_line AS "lineNumber", first_id AS id, base_id AS "baseId", base_us AS "baseUs", block
   FROM ingest.log_segments_after($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
);

/** Segments that may hold lines after a place, in the order of their first lines, those left out that begin at `read` or before. */
export function listLogSegmentsAfter(
  tx: Tx,
  source: LogSource,
  after: LogPosition,
  read: LogPosition,
  { linesMax, bytesMax, blocksMax }: SegmentBounds,
): Promise<LogSegment[]> {
  return tx.rows(segmentsAfter, [
    source.orgId,
    source.runId,
    source.stream,
    after.lineNumber,
    after.id,
    read.lineNumber,
    read.id,
    linesMax,
    bytesMax,
    blocksMax,
  ]);
}

const segmentsAtEnd = sql(
  "ingest_log_segments_at_end",
  `SELECT last_line AS "lineNumber", last_id AS id, base_id AS "baseId", base_us AS "baseUs", block
   FROM ingest.log_segments_at_end($1, $2, $3, $4, $5, $6, $7, $8)`,
);

/** Segments in descending order of their last lines, those left out that end at `read` or behind it. */
export function listLogSegmentsAtEnd(
  tx: Tx,
  source: LogSource,
  read: LogPosition,
  { linesMax, bytesMax, blocksMax }: SegmentBounds,
): Promise<LogSegment[]> {
  return tx.rows(segmentsAtEnd, [
    source.orgId,
    source.runId,
    source.stream,
    read.lineNumber,
    read.id,
    linesMax,
    bytesMax,
    blocksMax,
  ]);
}
