import { binarySql, sql, type Tx } from "@tidemark/pg";
import type { KeyFacts, SeriesRow, StepRange } from "./metric-rows.rules.ts";
import { pointsToRead } from "./series-answer.rules.ts";

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
  /** The number of parts that a longer series is sampled in; undefined: its tail is cut off. */
  readonly buckets: number | undefined;
};

/** Where a page begins: after `tier`, `seq` and `firstKey` in a run; runs are counted from 1. */
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
 * Reads the stored points of the series from a position on, up to about `bytesMax` bytes, passes each row to `take`, and returns where the next page
 * begins; undefined when there is none. One statement, which sees one snapshot. The bytes of a row are valid until `take` returns.
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
    // A series that is sampled beyond its limit does not need another point.
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

/** Reads the facts of the keys of a run, by place, in the form of `metric_series_page`. */
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

const listVersions = sql("ingest_list_metric_versions", "SELECT version FROM ingest.metric_versions($1, $2)");

/**
 * Returns the versions of some runs, in the order of the runs, in one round trip: a number that rises with every write of metrics, 0 before the
 * first.
 */
export async function listMetricVersions(tx: Tx, orgId: string, runIds: readonly string[]): Promise<number[]> {
  const rows = await tx.rows<{ version: number }>(listVersions, [orgId, runIds]);
  return rows.map(({ version }) => version);
}
