import { create } from "@bufbuild/protobuf";
import { chunkOfRows, isArchiveError, rowsOfChunk } from "@tidemark/archive";
import { badRequest } from "@tidemark/errors";
import { TABLE_CHUNK_ROWS, TABLE_ROWS_TOTAL_MAX } from "@tidemark/limits";
import type { Tx } from "@tidemark/pg";
import { TableChunkSchema } from "@tidemark/proto/ingest/v1/objects";
import type { PackedChunk } from "./object.rules.ts";
import { findLastChunk, putTableChunks } from "./table-end.sql.ts";
import { packChunk, unpackChunk } from "./table-pack.ts";

/** Where the next rows of a table go. */
type TableEnd = {
  readonly rowCount: number;
  /** The number of the chunk that the next row belongs to, and its rows so far as JSON: fewer than a chunk has. */
  readonly chunk: number;
  readonly open: readonly string[];
};

/** Reads the end of a table. All its chunks but the last one are full. */
export async function readTableEnd(tx: Tx, orgId: string, objectId: number): Promise<TableEnd> {
  const last = await findLastChunk(tx, orgId, objectId);
  if (last === undefined) return { rowCount: 0, chunk: 0, open: [] };
  const chunk = unpackChunk(last.rows);
  const rowCount = last.chunk * TABLE_CHUNK_ROWS + chunk.rowCount;
  if (chunk.rowCount === TABLE_CHUNK_ROWS) return { rowCount, chunk: last.chunk + 1, open: [] };
  return { rowCount, chunk: last.chunk, open: rowsOfChunk(chunk, 0, chunk.rowCount) };
}

/** @throws bad_request for more rows than a table may have */
export function requireRoom(rowCount: number): void {
  if (rowCount > TABLE_ROWS_TOTAL_MAX)
    throw badRequest(`a table must have at most ${TABLE_ROWS_TOTAL_MAX} rows`, "rows");
}

/** Stores rows behind the end of a table. @throws bad_request for anything but JSON objects */
export async function putRows(
  tx: Tx,
  orgId: string,
  objectId: number,
  { chunk, open }: TableEnd,
  rows: readonly string[],
): Promise<void> {
  await putTableChunks(tx, orgId, objectId, chunk, chunksOf([...open, ...rows]));
}

/** Packs rows as a table has them: each chunk except the last is full. */
function chunksOf(rows: readonly string[]): PackedChunk[] {
  const chunks: PackedChunk[] = [];
  for (let from = 0; from < rows.length; from += TABLE_CHUNK_ROWS) {
    try {
      const chunk = chunkOfRows(rows.slice(from, from + TABLE_CHUNK_ROWS));
      chunks.push(packChunk(create(TableChunkSchema, chunk as never)));
    } catch (error) {
      throw isArchiveError(error) ? badRequest(`rows: ${error.message}`, "rows") : error;
    }
  }
  return chunks;
}
