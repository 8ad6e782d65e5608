import { decodeLogBlock } from "@tidemark/codecs/logs";
import { sql, type Db, type Tx } from "@tidemark/pg";
import { createPauses } from "@tidemark/work";
import { withFreshIds } from "../writes/fresh-ids.sql.ts";
import type { IdempotencyHashes, WriteOutcome } from "../writes/writes.rules.ts";
import {
  createPageWindow,
  createTailWindow,
  type LineWindow,
  type ScannedLine,
  type Wanted,
  logStart,
  type LogPosition,
  type LogSource,
} from "./log-page.rules.ts";

/** One accepted request of console lines, which becomes a landing segment. */
export type LogWrite = {
  readonly source: LogSource;
  /** Whether the run is known to exist in the organization and to be visible to the caller. */
  readonly runKnown: boolean;
  /** The only project that the caller may see; null: every project of the organization. */
  readonly onlyProject: string | null;
  readonly idempotency: IdempotencyHashes | null;
  /** Takes the id of the segment, a multiple of 64: its lines have the ids from there on. */
  readonly takeId: () => number;
  readonly lowestLine: number;
  readonly highestLine: number;
  readonly lines: number;
  readonly messageBytes: number;
  /** A block of the log codec with ids from 0 and without times of arrival. */
  readonly block: Uint8Array;
  /** Seconds until a compactor should look at the stream; null: this write leaves no dirty marker. */
  readonly markerSeconds: number | null;
};

const insertLogLines = sql(
  "ingest_append_log_lines",
  `SELECT outcome, inserted, run_project AS "projectId"
   FROM ingest.append_log_lines($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
);

/**
 * Stores a request with its idempotency record in one round trip and one transaction.
 * @throws idempotency_in_progress
 */
export async function appendLogLines(db: Db, write: LogWrite): Promise<WriteOutcome> {
  const { source } = write;
  return withFreshIds(async () => {
    const row = await db.one<WriteOutcome>(insertLogLines, [
      source.orgId,
      source.runId,
      write.runKnown,
      write.onlyProject,
      write.idempotency?.key ?? null,
      write.idempotency?.body ?? null,
      source.stream,
      write.takeId(),
      write.lowestLine,
      write.highestLine,
      write.lines,
      write.messageBytes,
      write.block,
      write.markerSeconds,
    ]);
    return row!;
  });
}

/**
 * A part of a stream as it is stored, in either tier. Its position is the position of its first line, or of its last line in a read of the end. A null
 * block in the last row says that there are more parts, which begin (end) at its position.
 */
export type StoredLines = LogPosition & {
  /** What to add to the ids and the times of arrival that the block holds. */
  readonly baseId: number;
  readonly baseUs: number;
  readonly block: Uint8Array | null;
};

/** How much of a stream one statement returns. */
export type ReadBounds = {
  /** The wanted lines, by estimate. */
  readonly linesMax: number;
  /** Stored bytes; at least one part is returned. */
  readonly bytesMax: number;
  /** Blocks of one level. */
  readonly blocksMax: number;
};

const segmentsAfter = sql(
  "ingest_log_segments_after",
  `SELECT first_line AS "lineNumber", first_id AS id, base_id AS "baseId", base_us AS "baseUs", block
   FROM ingest.log_parts_after($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
);

/** Returns the parts that may hold lines after a position, in the order of their first lines, except those that begin at or before `read`. */
function listLinesAfter(
  tx: Tx,
  source: LogSource,
  after: LogPosition,
  read: LogPosition,
  { linesMax, bytesMax, blocksMax }: ReadBounds,
): Promise<StoredLines[]> {
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
   FROM ingest.log_parts_at_end($1, $2, $3, $4, $5, $6, $7, $8)`,
);

/** Returns the last parts in descending order of their last lines, except those that end at or after `read`. */
function listLinesAtEnd(
  tx: Tx,
  source: LogSource,
  read: LogPosition,
  { linesMax, bytesMax, blocksMax }: ReadBounds,
): Promise<StoredLines[]> {
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

/** The most stored bytes that one statement returns. */
const BATCH_BYTES = 4 * 1024 * 1024;
/** The position after every line: line numbers end at 2^53 - 1. */
const logEnd: LogPosition = { lineNumber: 2 ** 53, id: 0 };

/** Returns the first lines after a position, in order, within the bounds of `wanted`. One round trip except in crowded streams. */
export function readLogPage(db: Db, source: LogSource, wanted: Wanted): Promise<readonly ScannedLine[]> {
  return readWindow(
    db,
    source,
    () => createPageWindow(wanted),
    logStart,
    (tx, read, bounds) => listLinesAfter(tx, source, wanted.after, read, bounds),
  );
}

/** Like `readLogPage`, as of the snapshot of the transaction. */
export async function readLogPageIn(tx: Tx, source: LogSource, wanted: Wanted): Promise<readonly ScannedLine[]> {
  const window = createPageWindow(wanted);
  await fill(
    window,
    tx,
    logStart,
    (all, read, bounds) => listLinesAfter(all, source, wanted.after, read, bounds),
    Infinity,
  );
  return window.lines();
}

/** Returns the last lines of a stream, in order. */
export function readLogTail(db: Db, source: LogSource, count: number): Promise<readonly ScannedLine[]> {
  return readWindow(
    db,
    source,
    () => createTailWindow(count),
    logEnd,
    (tx, read, bounds) => listLinesAtEnd(tx, source, read, bounds),
  );
}

type ListLines = (tx: Tx, read: LogPosition, bounds: ReadBounds) => Promise<StoredLines[]>;

/**
 * Fills a window. One statement sees one snapshot and nearly always suffices. When it does not, the read restarts in a transaction that sees
 * one snapshot: between two separate statements a compactor could move lines from the part that was not read yet to the part that was.
 */
async function readWindow(
  db: Db,
  source: LogSource,
  createWindow: () => LineWindow,
  start: LogPosition,
  list: ListLines,
): Promise<readonly ScannedLine[]> {
  const window = createWindow();
  if (await fill(window, db, start, list, 1)) return window.lines();
  return db.readTenant(source.orgId, async (tx) => {
    const again = createWindow();
    await fill(again, tx, start, list, Infinity);
    return again.lines();
  });
}

/** Fills a window from up to `statementsMax` statements. Returns false when these were not enough. */
async function fill(
  window: LineWindow,
  tx: Tx,
  start: LogPosition,
  list: ListLines,
  statementsMax: number,
): Promise<boolean> {
  const { linesMax } = window;
  const bounds = { linesMax, bytesMax: BATCH_BYTES, blocksMax: 8 + Math.ceil(linesMax / 512) };
  let read = start;
  // A statement returns 4 MiB of stored bytes, which may be twenty times as much when decoded.
  const pauseIfLong = createPauses();
  for (let statements = 0; statements < statementsMax; statements++) {
    const segments = await list(tx, read, bounds);
    for (const segment of segments) {
      if (window.isDoneAt(segment)) return true;
      if (segment.block === null) break;
      window.add(decodeLogBlock(segment.block, { id: segment.baseId, createdUs: segment.baseUs }));
      read = { lineNumber: segment.lineNumber, id: segment.id };
      const pause = pauseIfLong();
      if (pause !== undefined) await pause;
    }
    if (segments.at(-1)?.block !== null) return true;
  }
  return false;
}
