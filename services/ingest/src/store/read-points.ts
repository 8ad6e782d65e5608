import type { Db, Tx } from "@tidemark/pg";
import { createPointsReader, type PointsReader } from "../domain/points-reader.ts";
import { listPointSegments, type PointBounds, type PointCursor, type PointQuery } from "./list-point-segments.ts";

/** What one statement brings. */
export const POINT_BOUNDS: PointBounds = { bytes: 8 * 1024 * 1024, keys: 8192, values: 500_000, shortPoints: 8192 };

const begin = { tier: -1, seq: -1, firstKey: -1 };

/**
 * The first `limit` points of a run over all its keys, with the version of the run at the same moment. One statement sees one moment and nearly
 * always suffices; where it does not, the read begins again in a transaction that sees one moment as a whole.
 */
export async function readPoints(
  db: Db,
  query: PointQuery,
  limit: number,
  bounds = POINT_BOUNDS,
): Promise<ReturnType<PointsReader["take"]>> {
  const reader = createPointsReader(limit, query.range);
  if (await fill(reader, db, query, limit + 1, bounds, 1)) return reader.take();
  return db.readTenant(query.orgId, async (tx) => {
    const again = createPointsReader(limit, query.range);
    await fill(again, tx, query, limit + 1, bounds, Infinity);
    return again.take();
  });
}

/** Reads up to `statementsMax` pages, until there are `wanted` points; false when these did not suffice. */
async function fill(
  reader: PointsReader,
  tx: Tx,
  query: PointQuery,
  wanted: number,
  bounds: PointBounds,
  statementsMax: number,
): Promise<boolean> {
  let from: PointCursor = { key: "", ...begin };
  let missing = wanted;
  for (let statements = 0; statements < statementsMax; statements++) {
    const { next, keysAfter } = await listPointSegments(tx, query, missing, from, bounds, reader.add);
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
