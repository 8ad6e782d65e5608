import { binarySql, sql, type Tx } from "@tidemark/pg";
import type { TableEnd } from "./measures.sql.ts";
import type { ObjectPlace } from "./object-place.rules.ts";

const readLastChunksSql = binarySql(
  "ingest_read_last_chunks",
  `SELECT c.rows FROM unnest($2::bigint[], $3::smallint[]) AS t (id, chunk)
   CROSS JOIN LATERAL (SELECT o.rows FROM ingest.table_chunks o WHERE o.org_id = $1 AND o.object_id = t.id AND o.chunk = t.chunk OFFSET 0) c`,
);

/** Returns the last chunks of tables that have rows. */
export async function readLastChunks(tx: Tx, orgId: string, tables: readonly TableEnd[]): Promise<Buffer[]> {
  const values = [orgId, tables.map(({ id }) => id), tables.map(({ lastChunk }) => lastChunk)];
  const rows = await tx.rows<{ rows: Buffer }>(readLastChunksSql, values);
  return rows.map(({ rows: bytes }) => bytes);
}

const pageTablesSql = sql(
  "ingest_page_tables",
  `SELECT o.id, o.order_step AS step, o.created_at AS "createdAt" FROM ingest.objects o
   WHERE o.org_id = $1 AND o.run_id = $2 AND o.kind = 'table' AND (o.order_step, o.created_at, o.id) >= ($3, $4, $5)
   ORDER BY o.order_step, o.created_at, o.id LIMIT $6`,
);

/** Returns the next tables of a run from a place on, inclusive. */
export function pageTables(
  tx: Tx,
  orgId: string,
  runId: string,
  from: ObjectPlace,
  limit: number,
): Promise<ObjectPlace[]> {
  return tx.rows(pageTablesSql, [orgId, runId, from.step, from.createdAt, from.id, limit]);
}

const readChunksSql = binarySql(
  "ingest_read_chunks_of_tables",
  `SELECT w.id, w.chunk, w.rows FROM (
     SELECT t.id, t.ordinal, c.chunk, c.rows, c.bytes, sum(c.bytes) OVER (ORDER BY t.ordinal, c.chunk) AS reached
     FROM unnest($2::bigint[]) WITH ORDINALITY AS t (id, ordinal)
     CROSS JOIN LATERAL (SELECT o.chunk, o.rows, octet_length(o.rows) AS bytes FROM ingest.table_chunks o
                         WHERE o.org_id = $1 AND o.object_id = t.id AND o.chunk >= CASE t.ordinal WHEN 1 THEN $3::smallint ELSE 0 END
                         ORDER BY o.chunk OFFSET 0) c) w
   WHERE w.reached - w.bytes < $4 ORDER BY w.ordinal, w.chunk`,
);

/** A stored chunk. */
export type StoredChunk = { readonly id: number; readonly chunk: number; readonly rows: Buffer };

/**
 * Returns the chunks of tables in their order, of the first table from the chunk `firstChunk` on, until they have `bytesMax` stored bytes; at least
 * one, if there is any.
 */
export function readChunksOfTables(
  tx: Tx,
  orgId: string,
  ids: readonly number[],
  firstChunk: number,
  bytesMax: number,
): Promise<StoredChunk[]> {
  return tx.rows(readChunksSql, [orgId, ids, firstChunk, bytesMax]);
}
