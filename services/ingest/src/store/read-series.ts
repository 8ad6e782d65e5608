import type { Db, Tx } from "@tidemark/pg";
import { createSeriesReader, type RunSeries, type SeriesReader } from "../domain/series-reader.ts";
import { listSeriesSegments, type SeriesCursor, type SeriesQuery } from "./list-series-segments.ts";

/** What one statement brings, as it is stored: with one segment more, at most. */
const PAGE_BYTES = 8 * 1024 * 1024;

/**
 * The series of one key in some runs, with the versions of these at the same moment. One statement sees one moment and nearly always suffices.
 * Where it does not, the read begins again in a transaction that sees one moment as a whole: between two statements of their own a compactor could
 * join what was read with what was not.
 */
export async function readSeries(db: Db, query: SeriesQuery, pageBytes = PAGE_BYTES): Promise<readonly RunSeries[]> {
  const reader = readerOf(query);
  if (await fill(reader, db, query, pageBytes, 1)) return reader.take();
  return db.readTenant(query.orgId, async (tx) => {
    const again = readerOf(query);
    await fill(again, tx, query, pageBytes, Infinity);
    return again.take();
  });
}

function readerOf({ key, range, pointsMax, buckets }: SeriesQuery): SeriesReader {
  return createSeriesReader({ key, range, limit: buckets === undefined ? pointsMax - 1 : pointsMax, buckets });
}

/** Reads up to `statementsMax` pages; false when these did not suffice. */
async function fill(
  reader: SeriesReader,
  tx: Tx,
  query: SeriesQuery,
  pageBytes: number,
  statementsMax: number,
): Promise<boolean> {
  let from: SeriesCursor = { place: 1, seq: -1 };
  for (let statements = 0; statements < statementsMax; statements++) {
    const next = await listSeriesSegments(tx, query, from, pageBytes, reader.add);
    if (next === undefined) return true;
    from = next;
  }
  return false;
}
