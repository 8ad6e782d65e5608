import { byteaArray, int4Array, sql, type Tx } from "@tidemark/pg";
import type { PackedChunk } from "./object.rules.ts";

const lastChunkSql = sql(
  "ingest_find_last_chunk",
  "SELECT c.chunk, c.rows FROM ingest.table_chunks c WHERE c.org_id = $1 AND c.object_id = $2 ORDER BY c.chunk DESC LIMIT 1",
);

/** Returns the last stored rows of a table. */
export function findLastChunk(
  tx: Tx,
  orgId: string,
  objectId: number,
): Promise<{ readonly chunk: number; readonly rows: Buffer } | undefined> {
  return tx.one(lastChunkSql, [orgId, objectId]);
}

const putChunksSql = sql(
  "ingest_put_table_chunks",
  `INSERT INTO ingest.table_chunks (org_id, object_id, chunk, rows, bytes)
   SELECT $1, $2, ($3::integer + c.n - 1)::smallint, c.rows, c.bytes
   FROM unnest($4::bytea[], $5::integer[]) WITH ORDINALITY AS c (rows, bytes, n)
   ON CONFLICT (org_id, object_id, chunk) DO UPDATE SET rows = excluded.rows, bytes = excluded.bytes`,
);

/** Stores chunks of a table from a number on. */
export async function putTableChunks(
  tx: Tx,
  orgId: string,
  objectId: number,
  from: number,
  chunks: readonly PackedChunk[],
): Promise<void> {
  const [rows, bytes] = [chunks.map((chunk) => chunk.rows), chunks.map((chunk) => chunk.bytes)];
  await tx.rows(putChunksSql, [orgId, objectId, from, byteaArray(rows), int4Array(bytes)]);
}

const lockSql = sql(
  "ingest_lock_table",
  `SELECT o.key, o.step, o.summary::text AS "summaryJson" FROM ingest.objects o
   WHERE o.org_id = $1 AND o.id = $2 AND o.kind = 'table' FOR NO KEY UPDATE`,
);

/** A table that no other write changes until the transaction ends. */
type LockedTable = { readonly key: string; readonly step: number | null; readonly summaryJson: string };

/** Locks a table; undefined where there is none with this id. */
export function lockTable(tx: Tx, orgId: string, objectId: number): Promise<LockedTable | undefined> {
  return tx.one(lockSql, [orgId, objectId]);
}

const summarizeSql = sql(
  "ingest_summarize_table",
  `UPDATE ingest.objects SET summary = $3::text::json, bytes = bytes + octet_length($3::text) - octet_length(summary::text)
   WHERE org_id = $1 AND id = $2`,
);

/** Replaces the summary of a table. */
export async function putSummary(tx: Tx, orgId: string, objectId: number, summaryJson: string): Promise<void> {
  await tx.count(summarizeSql, [orgId, objectId, summaryJson]);
}
