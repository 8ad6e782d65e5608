import { binarySql, type Db, type Tx } from "@tidemark/pg";
import type { PointRow, StepRange } from "./metric-rows.rules.ts";
import { createPointsReader, type PointsReader } from "./series-reader.rules.ts";
import { pointsToRead } from "./series-answer.rules.ts";

/** Which points of a run to read. */
export type PointQuery = { readonly orgId: string; readonly runId: string; readonly range: StepRange };

/** Where a page begins: at the keys after `key`, and after their `tier`, `seq` and `firstKey`; all three are -1 to begin with these keys. */
export type PointCursor = {
  readonly key: string;
  readonly tier: number;
  readonly seq: number;
  readonly firstKey: number;
};

/** How much one statement returns. */
export type PointBounds = {
  /** Stored bytes, plus at most one more row. */
  readonly bytes: number;
  /** Keys that are read together, and the values of all of them. */
  readonly keys: number;
  readonly values: number;
  /** A key with more points is the last of the page, and is read only as far as needed. */
  readonly shortPoints: number;
};

/** How a page ended. */
export type PointPageEnd = {
  /** Where the next page of the same keys begins. */
  readonly next: PointCursor | undefined;
  /** These keys are read completely, and more keys follow this one. */
  readonly keysAfter: string | undefined;
};

type RawPointRow = {
  kind: PointRow["kind"] | "more" | "keys";
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
 * Reads the stored points of a run's next keys, as many keys as surely have `pointsMax` points or are read together, and passes each row to
 * `take`. One statement, which sees one snapshot. The bytes of a row are valid until `take` returns.
 */
export async function listPointRows(
  tx: Tx,
  query: PointQuery,
  pointsMax: number,
  from: PointCursor,
  bounds: PointBounds,
  take: (row: PointRow) => void,
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
  await tx.each<RawPointRow>(pointsPage, values, (row) => {
    if (row.kind === "more") next = { key: from.key, tier: row.tier, seq: row.seq, firstKey: row.firstKey };
    else if (row.kind === "keys") keysAfter = row.key;
    else take(pointRowOf(row));
  });
  return { next, keysAfter };
}

function pointRowOf(row: RawPointRow): PointRow {
  const { kind } = row;
  switch (kind) {
    case "run":
      return { kind, version: row.version };
    case "key":
      return { kind, key: row.key, keyId: row.keyId };
    case "chunk":
      return { kind, keyId: row.keyId, axis: { steps: row.steps, times: row.times }, section: row.section };
    case "block":
      return { kind, part: { steps: row.steps, times: row.times, keys: row.keys, sections: row.section } };
    case "segment":
      return { kind, segment: { receivedUs: row.receivedUs, bytes: row.section } };
    default:
      throw new Error(`a row of an unknown kind: ${kind}`);
  }
}

/** How much one statement of the service returns. */
export const POINT_BOUNDS: PointBounds = { bytes: 8 * 1024 * 1024, keys: 8192, values: 500_000, shortPoints: 8192 };

const begin = { tier: -1, seq: -1, firstKey: -1 };

/**
 * Reads the first `limit` points of a run over all its keys, with the version of the run in the same snapshot. One statement sees one snapshot and
 * nearly always suffices. When it does not, the read restarts in a transaction that sees one snapshot.
 */
export async function readPoints(
  db: Db,
  query: PointQuery,
  limit: number,
  bounds = POINT_BOUNDS,
): Promise<ReturnType<PointsReader["take"]>> {
  const reader = createPointsReader(limit, query.range);
  if (await fill(reader, db, query, limit, bounds, 1)) return reader.take();
  return db.readTenant(query.orgId, async (tx) => {
    const again = createPointsReader(limit, query.range);
    await fill(again, tx, query, limit, bounds, Infinity);
    return again.take();
  });
}

/** Reads up to `statementsMax` pages, until there are enough points. Returns false when these were not enough. */
async function fill(
  reader: PointsReader,
  tx: Tx,
  query: PointQuery,
  limit: number,
  bounds: PointBounds,
  statementsMax: number,
): Promise<boolean> {
  let from: PointCursor = { key: "", ...begin };
  const wanted = pointsToRead(limit);
  let missing = wanted;
  for (let statements = 0; statements < statementsMax; statements++) {
    const { next, keysAfter } = await listPointRows(tx, query, missing, from, bounds, reader.add);
    if (next !== undefined) from = next;
    else {
      missing = wanted - reader.count();
      if (keysAfter === undefined || missing <= 0) return true;
      reader.nextKeys();
      from = { key: keysAfter, ...begin };
    }
  }
  return false;
}
