import { binarySql, type Tx } from "@tidemark/pg";
import type { PointSegment } from "../domain/metric-segments.ts";
import type { StepRange } from "../domain/stored-series.ts";

/** Which points of a run to read. */
export type PointQuery = { readonly orgId: string; readonly runId: string; readonly range: StepRange };

/** Where a page begins: keys behind `key`, of which is read what follows `tier`, `seq` and `firstKey`; -1, all three, to begin with these keys. */
export type PointCursor = {
  readonly key: string;
  readonly tier: number;
  readonly seq: number;
  readonly firstKey: number;
};

/** How much one statement gives. */
export type PointBounds = {
  /** Bytes as stored, and a segment more at most. */
  readonly bytes: number;
  /** Keys, and values of all of them, that are read at once. */
  readonly keys: number;
  readonly values: number;
  /** A key of more points is the last of these, and read only as far as it is wanted. */
  readonly shortPoints: number;
};

/** How a page ended. */
export type PointPageEnd = {
  /** Where the next page of the same keys begins. */
  readonly next: PointCursor | undefined;
  /** All is read of these keys, and more keys follow this one. */
  readonly keysAfter: string | undefined;
};

type Row = {
  kind: PointSegment["kind"] | "more" | "keys";
  version: number;
  key: string;
  keyId: number;
  tier: number;
  seq: number;
  firstKey: number;
  receivedUs: number;
  steps: Buffer;
  times: Buffer;
  keys: Buffer;
  section: Buffer;
};

const pointsPage = binarySql(
  "ingest_metric_points_page",
  `SELECT kind, version, key, key_id AS "keyId", tier, seq, first_key AS "firstKey",
          received_us AS "receivedUs", steps, times, keys, section
   FROM ingest.metric_points_page($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
);

/**
 * Passes on what is stored of the next keys of a run, as many as are sure to have `pointsMax` points or are read at once. One statement, which sees
 * one moment. Bytes of a segment hold until `take` returns.
 */
export async function listPointSegments(
  tx: Tx,
  query: PointQuery,
  pointsMax: number,
  from: PointCursor,
  bounds: PointBounds,
  take: (segment: PointSegment) => void,
): Promise<PointPageEnd> {
  let next: PointCursor | undefined;
  let keysAfter: string | undefined;
  const values = [
    query.orgId,
    query.runId,
    from.key,
    query.range.startStep ?? 0,
    query.range.endStep ?? Infinity,
    pointsMax,
    from.tier,
    from.seq,
    from.firstKey,
    bounds.bytes,
    bounds.keys,
    bounds.values,
    bounds.shortPoints,
  ];
  await tx.each<Row>(pointsPage, values, (row) => {
    if (row.kind === "more") next = { key: from.key, tier: row.tier, seq: row.seq, firstKey: row.firstKey };
    else if (row.kind === "keys") keysAfter = row.key;
    else take(segmentOf(row));
  });
  return { next, keysAfter };
}

function segmentOf(row: Row): PointSegment {
  const { kind } = row;
  switch (kind) {
    case "run":
      return { kind, version: row.version };
    case "key":
      return { kind, key: row.key, keyId: row.keyId };
    case "chunk":
      return { kind, keyId: row.keyId, chunk: { steps: row.steps, times: row.times, section: row.section } };
    case "block":
      return { kind, stripe: { steps: row.steps, times: row.times, keys: row.keys, sections: row.section } };
    case "landing":
      return { kind, landed: { receivedUs: row.receivedUs, block: row.section } };
    default:
      throw new Error(`a segment of an unknown kind: ${kind}`);
  }
}
