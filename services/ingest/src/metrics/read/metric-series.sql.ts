import { stopIfOver } from "@tidemark/deadline";
import { binarySql, sql, type Db, type Tx } from "@tidemark/pg";
import type { KeyFacts, SeriesRow, StepRange } from "./metric-rows.rules.ts";
import { pointsToRead } from "./series-budget.rules.ts";
import { createSeriesReader, type RunSeries } from "./series-reader.rules.ts";

/** Which series of some keys to read, in some runs. */
export type SeriesQuery = {
  readonly orgId: string;
  /** Distinct. */
  readonly runIds: readonly string[];
  /** Distinct. */
  readonly keys: readonly string[];
  readonly range: StepRange;
  /** The most points of a series that is not sampled. */
  readonly limit: number;
  /** The number of parts that a longer series is sampled in; undefined: it loses its tail. */
  readonly buckets: number | undefined;
};

/** Where a page begins: behind `tier`, `seq` and `firstKey` in a run; runs are counted from 1. */
export type SeriesCursor = {
  readonly run: number;
  readonly tier: number;
  readonly seq: number;
  readonly firstKey: number;
};

/** Where the first page begins. */
export const seriesBegin: SeriesCursor = { run: 1, tier: 1, seq: -1, firstKey: -1 };

type RawSeriesRow = {
  kind: SeriesRow["kind"] | "more";
  index: number;
  version: number;
  place: number;
  tier: number;
  seq: number;
  firstKey: number;
  receivedUs: number;
  steps: Buffer | null;
  times: Buffer | null;
  section: Buffer;
};

const seriesPage = binarySql(
  "ingest_metric_series_page",
  `SELECT kind, index, version, place, tier, seq, first_key AS "firstKey", received_us AS "receivedUs", steps, times, section
   FROM ingest.metric_series_page($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
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
    query.keys,
    query.range.startStep ?? 0,
    query.range.endStep ?? Infinity,
    // A series that is sampled beyond its limit needs no further point.
    query.buckets === undefined ? pointsToRead(query.limit) : query.limit,
    query.buckets ?? null,
    from.run,
    from.tier,
    from.seq,
    from.firstKey,
    bytesMax,
  ];
  await tx.each<RawSeriesRow>(seriesPage, values, (row) => {
    if (row.kind === "more") next = { run: row.index, tier: row.tier, seq: row.seq, firstKey: row.firstKey };
    else take(seriesRowOf(row));
  });
  return next;
}

function seriesRowOf(row: RawSeriesRow): SeriesRow {
  const { kind, index: run, place, section } = row;
  switch (kind) {
    case "run":
      return { kind, run, version: row.version, keys: readFacts(section) };
    case "statistics":
      return { kind, run, place, statistics: section };
    case "chunk":
      return { kind, run, place, axis: row.steps === null ? null : { steps: row.steps, times: row.times }, section };
    case "segment":
      return { kind, run, segment: { receivedUs: row.receivedUs, bytes: section } };
    default:
      throw new Error(`a row of an unknown kind: ${kind}`);
  }
}

/** Place and id in four bytes each, then count, first and last step as doubles; all in network order. */
const FACTS_BYTES = 32;

/** Reads the facts of the keys of a run, by place; the form is that of `metric_series_page`. */
export function readFacts(packed: Buffer | null): ReadonlyMap<number, KeyFacts> {
  const keys = new Map<number, KeyFacts>();
  for (let at = 0; packed !== null && at < packed.length; at += FACTS_BYTES) {
    keys.set(packed.readInt32BE(at), {
      keyId: packed.readInt32BE(at + 4),
      count: packed.readDoubleBE(at + 8),
      firstStep: packed.readDoubleBE(at + 16),
      lastStep: packed.readDoubleBE(at + 24),
    });
  }
  return keys;
}

/** How much is read at a time. */
export type SeriesBounds = {
  /** Bytes that one statement returns, as they are stored, besides one more row at most. */
  readonly bytes: number;
  /** Series that one statement looks for, besides those of one more run at most. */
  readonly series: number;
};

/** How much the service reads at a time. */
const SERIES_BOUNDS: SeriesBounds = { bytes: 8 * 1024 * 1024, series: 500 };

/** Statements that one read runs simultaneously: PostgreSQL finds the rows of one while those of another are decoded. */
const STATEMENTS_MAX = 2;

/**
 * Reads the series of some keys in some runs, with the version of each run at the same moment as its series. A run is read by one statement, which
 * sees one moment. A run that has more than a statement returns is read in a transaction that sees one moment as a whole: between two separate
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
    const rest = { ...query, runIds: runIds.slice(found.length) };
    const reader = createSeriesReader(rest);
    const next = await listSeriesRows(db, rest, seriesBegin, pageBytes, reader.add);
    // The run in which the page ended is read anew.
    found.push(...reader.take().slice(0, next === undefined ? undefined : next.run - 1));
    if (next?.run === 1) {
      const long = { ...rest, runIds: rest.runIds.slice(0, 1) };
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

const listVersions = sql("ingest_list_metric_versions", "SELECT version FROM ingest.metric_versions($1, $2)");

/**
 * Returns the versions of some runs, in the order of the runs, in one round trip: a number that rises with every write of metrics, 0 before the
 * first.
 */
export async function listMetricVersions(tx: Tx, orgId: string, runIds: readonly string[]): Promise<number[]> {
  const rows = await tx.rows<{ version: number }>(listVersions, [orgId, runIds]);
  return rows.map(({ version }) => version);
}
