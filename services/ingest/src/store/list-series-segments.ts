import { binarySql, type Tx } from "@tidemark/pg";
import type { SeriesSegment } from "../domain/metric-segments.ts";
import type { StepRange } from "../domain/stored-series.ts";

/** Which series to read, of one key in some runs. */
export type SeriesQuery = {
  readonly orgId: string;
  /** Distinct. */
  readonly runIds: readonly string[];
  readonly key: string;
  readonly range: StepRange;
  /** As many of the first points as are wanted; with `buckets`, the most points of a series that is read whole. */
  readonly pointsMax: number;
  /** Parts of its steps that a longer series is sampled in; undefined: none is. */
  readonly buckets: number | undefined;
};

/** Where a page begins: behind `seq` in the run at `place`. */
export type SeriesCursor = { readonly place: number; readonly seq: number };

type Row = {
  kind: SeriesSegment["kind"] | "more";
  place: number;
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
  `SELECT kind, place, version, key_id AS "keyId", count, first_step AS "firstStep", last_step AS "lastStep", seq,
          received_us AS "receivedUs", steps, times, section
   FROM ingest.metric_series_page($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
);

/**
 * Passes on what is stored of the series from a place on, up to about `bytesMax` bytes of it, and returns where the next page begins. One statement,
 * which sees one moment. Bytes of a segment hold until `take` returns.
 */
export async function listSeriesSegments(
  tx: Tx,
  query: SeriesQuery,
  from: SeriesCursor,
  bytesMax: number,
  take: (segment: SeriesSegment) => void,
): Promise<SeriesCursor | undefined> {
  let next: SeriesCursor | undefined;
  const values = [
    query.orgId,
    query.runIds,
    query.key,
    query.range.startStep ?? 0,
    query.range.endStep ?? Infinity,
    query.pointsMax,
    query.buckets ?? null,
    from.place,
    from.seq,
    bytesMax,
  ];
  await tx.each<Row>(seriesPage, values, (row) => {
    if (row.kind === "more") next = { place: row.place, seq: row.seq };
    else take(segmentOf(row));
  });
  return next;
}

function segmentOf(row: Row): SeriesSegment {
  const { kind, place } = row;
  switch (kind) {
    case "run": {
      const { version, keyId, count, firstStep, lastStep } = row;
      return { kind, place, version, key: keyId === null ? null : { keyId, count, firstStep, lastStep } };
    }
    case "head":
      return { kind, place, head: row.section };
    case "chunk":
      return { kind, place, chunk: { steps: row.steps, times: row.times, section: row.section } };
    case "landing":
      return { kind, place, landed: { receivedUs: row.receivedUs, block: row.section } };
    default:
      throw new Error(`a segment of an unknown kind: ${kind}`);
  }
}
