import { decodeLogBlock } from "@tidemark/log-codec";
import type { Db, Tx } from "@tidemark/pg";
import {
  createPageWindow,
  createTailWindow,
  type LineWindow,
  type ScannedLine,
  type Wanted,
} from "../domain/line-window.ts";
import { logStart, type LogPosition } from "../domain/log-cursor.ts";
import type { LogSource } from "../domain/log-stream.ts";
import {
  listLogSegmentsAfter,
  listLogSegmentsAtEnd,
  type LogSegment,
  type SegmentBounds,
} from "./list-log-segments.ts";

/** What one statement brings at most, as it is stored. */
const BATCH_BYTES = 4 * 1024 * 1024;
/** Behind every place: line numbers end at 2^53 - 1. */
const logEnd: LogPosition = { lineNumber: 2 ** 53, id: 0 };

/** The first lines after a place, in order, as `wanted` bounds them. One round trip in all but crowded streams. */
export function readLogPage(db: Db, source: LogSource, wanted: Wanted): Promise<readonly ScannedLine[]> {
  return readWindow(
    db,
    source,
    () => createPageWindow(wanted),
    logStart,
    (tx, read, bounds) => listLogSegmentsAfter(tx, source, wanted.after, read, bounds),
  );
}

/** The last lines of a stream, in order. */
export function readLogTail(db: Db, source: LogSource, count: number): Promise<readonly ScannedLine[]> {
  return readWindow(
    db,
    source,
    () => createTailWindow(count),
    logEnd,
    (tx, read, bounds) => listLogSegmentsAtEnd(tx, source, read, bounds),
  );
}

type ListSegments = (tx: Tx, read: LogPosition, bounds: SegmentBounds) => Promise<LogSegment[]>;

/**
 * One statement sees one moment and nearly always suffices. Where it does not, the read begins again in a transaction that sees one moment as a
 * whole: between two statements of their own a compactor could move lines from what was not read yet to what was.
 */
async function readWindow(
  db: Db,
  source: LogSource,
  createWindow: () => LineWindow,
  start: LogPosition,
  list: ListSegments,
): Promise<readonly ScannedLine[]> {
  const window = createWindow();
  if (await fill(window, db, start, list, 1)) return window.lines();
  return db.readTenant(source.orgId, async (tx) => {
    const again = createWindow();
    await fill(again, tx, start, list, Infinity);
    return again.lines();
  });
}

/** Fills a window from up to `statementsMax` statements; false when these did not suffice. */
async function fill(
  window: LineWindow,
  tx: Tx,
  start: LogPosition,
  list: ListSegments,
  statementsMax: number,
): Promise<boolean> {
  const { linesMax } = window;
  const bounds = { linesMax, bytesMax: BATCH_BYTES, blocksMax: 8 + Math.ceil(linesMax / 512) };
  let read = start;
  for (let statements = 0; statements < statementsMax; statements++) {
    const segments = await list(tx, read, bounds);
    for (const segment of segments) {
      if (window.isDoneAt(segment)) return true;
      if (segment.block === null) break;
      window.add(decodeLogBlock(segment.block, { id: segment.baseId, createdUs: segment.baseUs }));
      read = { lineNumber: segment.lineNumber, id: segment.id };
    }
    if (segments.at(-1)?.block !== null) return true;
  }
  return false;
}
