import { binarySql, sql, type Db, type Tx } from "@tidemark/pg";
import type { SeriesRow, StepRange } from "./metric-rows.rules.ts";
import { pointsToRead } from "./series-budget.rules.ts";
import { createSeriesReader, type RunSeries, type SeriesReader } from "./series-reader.rules.ts";

/** Which series of one key to read, in some runs. */
export type SeriesQuery = {
  readonly orgId: string;
  /** Distinct. */
  readonly runIds: readonly string[];
  readonly key: string;
  readonly range: StepRange;
  /** The most points of a series that is not sampled. */
  readonly limit: number;
  /** The number of parts that a longer series is sampled in; undefined: it loses its tail. */
  readonly buckets: number | undefined;
};

/** Where a page begins: behind `seq` in a run; runs are counted from 1. */
export type SeriesCursor = { readonly run: number; readonly seq: number };

type RawSeriesRow = {
  kind: SeriesRow["kind"] | "more";
  index: number;
  version: number;
  keyId: number | null;
  count: number;
  firstStep: number;
  lastStep: number;
  seq: number;
  receivedUs: number;
  steps: Buffer;
  times: Buffer | null;
  section: Buffer;
};

const seriesPage = binarySql(
  "ingest_metric_series_page",
  `SELECT kind, index, version, key_id AS "keyId", count, first_step AS "firstStep", last_step AS "lastStep", seq,
          received_us AS "receivedUs", steps, times, section
   FROM ingest.metric_series_page($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
);

/**
 * Reads what is stored of the series from a position on, up to about `bytesMax` bytes, passes each row to `take`, and returns where the next page
 * begins; undefined when there is none. One statement, which sees one moment. The bytes of a row hold until `take` returns.
 */
export async function listSeriesRows(
  tx: Tx,
  query: SeriesQuery,
  from: SeriesCursor,
  bytesMax: number,
  take: (row: SeriesRow) => void,
): Promise<SeriesCursor | undefined> {
  let next: SeriesCursor | undefined;
  const values = [
    query.orgId,
    query.runIds,
    query.key,
    query.range.startStep ?? 0,
    query.range.endStep ?? Infinity,
    // A series that is sampled beyond its limit needs no further point.
    query.buckets === undefined ? pointsToRead(query.limit) : query.limit,
    query.buckets ?? null,
    from.run,
    from.seq,
    bytesMax,
  ];
  await tx.each<RawSeriesRow>(seriesPage, values, (row) => {
    if (row.kind === "more") next = { run: row.index, seq: row.seq };
    else take(seriesRowOf(row));
  });
  return next;
}

function seriesRowOf(row: RawSeriesRow): SeriesRow {
  const { kind, index: run } = row;
  switch (kind) {
    case "run": {
      const { version, keyId, count, firstStep, lastStep } = row;
      return { kind, run, version, key: keyId === null ? null : { keyId, count, firstStep, lastStep } };
    }
    case "statistics":
      return { kind, run, statistics: row.section };
    case "chunk":
      return { kind, run, chunk: { steps: row.steps, times: row.times, section: row.section } };
    case "segment":
      return { kind, run, segment: { receivedUs: row.receivedUs, bytes: row.section } };
    default:
      throw new Error(`a row of an unknown kind: ${kind}`);
  }
}

/** How many bytes one statement returns, as they are stored, besides one more row at most. */
const PAGE_BYTES = 8 * 1024 * 1024;

/**
 * Reads the series of one key in some runs, with the versions of the runs at the same moment. One statement sees one moment and nearly always
 * suffices. When it does not, the read begins again in a transaction that sees one moment as a whole: between two separate statements a compactor
 * could join what was read with what was not read.
 */
export async function readSeries(db: Db, query: SeriesQuery, pageBytes = PAGE_BYTES): Promise<readonly RunSeries[]> {
  const reader = createSeriesReader(query);
  if (await fill(reader, db, query, pageBytes, 1)) return reader.take();
  return db.readTenant(query.orgId, async (tx) => {
    const again = createSeriesReader(query);
    await fill(again, tx, query, pageBytes, Infinity);
    return again.take();
  });
}

/** Reads up to `statementsMax` pages. Returns false when these did not suffice. */
async function fill(
  reader: SeriesReader,
  tx: Tx,
  query: SeriesQuery,
  pageBytes: number,
  statementsMax: number,
): Promise<boolean> {
  let from: SeriesCursor = { run: 1, seq: -1 };
  for (let statements = 0; statements < statementsMax; statements++) {
    const next = await listSeriesRows(tx, query, from, pageBytes, reader.add);
    if (next === undefined) return true;
    from = next;
  }
  return false;
}

const listVersions = sql("ingest_list_metric_versions", "SELECT version FROM ingest.metric_versions($1, $2)");

/**
 * Returns the versions of some runs, in the order of the runs, in one round trip: a number that rises with every write of metrics, 0 before the
 * first.
 */
export async function listMetricVersions(tx: Tx, orgId: string, runIds: readonly string[]): Promise<number[]> {
  const rows = await tx.rows<{ version: number }>(listVersions, [orgId, runIds]);
  return rows.map(({ version }) => version);
}
