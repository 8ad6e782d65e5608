import { stopIfOver } from "@tidemark/work";
import type { Db, Tx } from "@tidemark/pg";
import { listSeriesRows, seriesBegin, type SeriesCursor, type SeriesQuery } from "./metric-series.sql.ts";
import { createSeriesReader, type RunSeries } from "./series-reader.rules.ts";

/** How much is read at a time. */
export type SeriesBounds = {
  /** Stored bytes that one statement returns, plus at most one more row. */
  readonly bytes: number;
  /** Series that one statement looks for, plus at most those of one more run. */
  readonly series: number;
};

/** How much the service reads at a time. */
const SERIES_BOUNDS: SeriesBounds = { bytes: 8 * 1024 * 1024, series: 500 };

/** Statements that one read runs simultaneously: PostgreSQL finds the rows of one while those of another are decoded. */
const STATEMENTS_MAX = 2;

/**
 * Reads the series of some keys in some runs, with the version of each run in the same snapshot as its series. A run is read by one statement, which
 * sees one snapshot. A run that has more than a statement returns is read in a transaction that sees one snapshot: between two separate
 * statements a compactor could join what was read with what was not read. Ends between two statements when its request is over.
 * @throws deadline_exceeded
 */
export async function readSeries(
  db: Db,
  query: SeriesQuery,
  { bytes, series }: SeriesBounds = SERIES_BOUNDS,
): Promise<readonly RunSeries[]> {
  const { runIds, keys } = query;
  const runsMax = Math.ceil(series / keys.length);
  const found: (readonly RunSeries[])[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < runIds.length) {
      const from = next;
      next += runsMax;
      try {
        stopIfOver();
        found[from / runsMax] = await readRuns(db, { ...query, runIds: runIds.slice(from, from + runsMax) }, bytes);
      } catch (error) {
        next = runIds.length;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: STATEMENTS_MAX }, work));
  return found.flat();
}

async function readRuns(db: Db, query: SeriesQuery, pageBytes: number): Promise<readonly RunSeries[]> {
  const { orgId, runIds } = query;
  const found: RunSeries[] = [];
  while (found.length < runIds.length) {
    stopIfOver();
    const remaining = { ...query, runIds: runIds.slice(found.length) };
    const reader = createSeriesReader(remaining);
    const next = await listSeriesRows(db, remaining, seriesBegin, pageBytes, reader.add);
    // The run in which the page ended is read again.
    found.push(...reader.take().slice(0, next === undefined ? undefined : next.run - 1));
    if (next?.run === 1) {
      const long = { ...remaining, runIds: remaining.runIds.slice(0, 1) };
      found.push(...(await db.readTenant(orgId, (tx) => readInPages(tx, long, pageBytes))));
    }
  }
  return found;
}

async function readInPages(tx: Tx, query: SeriesQuery, pageBytes: number): Promise<readonly RunSeries[]> {
  const reader = createSeriesReader(query);
  let from: SeriesCursor | undefined = seriesBegin;
  while (from !== undefined) {
    stopIfOver();
    from = await listSeriesRows(tx, query, from, pageBytes, reader.add);
  }
  return reader.take();
}
