import { badRequest, isAppError, notFound } from "@tidemark/errors";
import { TABLE_CHUNK_ROWS, TABLE_PAGE_ROWS, TABLE_ROWS_MAX } from "@tidemark/limits";
import type { Db } from "@tidemark/pg";
import {
  type ListTableRowsRequestSchema,
  type ListTableRowsResponseSchema,
  TableChunkSchema,
  type TableChunk,
} from "@tidemark/proto/ingest/v1/objects";
import { callerOf, canSee, requireLimit, throwFault, type Caller, type RunDirectory } from "@tidemark/requests";
import type { Handler } from "@tidemark/rpc";
import { mapInTurns } from "@tidemark/work";
import { findTable, readTableChunks } from "./objects.sql.ts";
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import type { PackedChunk } from "./object.rules.ts";

/** IngestReadService.ListTableRows: reads the chunks that hold the page, and no others. @throws not_found, then bad_request */
export function listTableRowsHandler({
  db,
  runs,
}: {
  readonly db: Db;
  readonly runs: RunDirectory;
}): Handler<typeof ListTableRowsRequestSchema, typeof ListTableRowsResponseSchema> {
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const { objectId, offset } = request;
    if (!Number.isSafeInteger(objectId)) throw notFound("object");
    const table = await db.readTenant(orgId, (tx) => findTable(tx, orgId, objectId), { plans: "walks" });
    if (table === undefined || !canSee(caller, { ...table, orgId })) throw notFound("object");
    await requireRun(runs, caller, table.runId);
    throwFault(request.queryFault);
    if (table.kind !== "table") throw badRequest("the object is not a table");
    const { createdAt } = table;
    const end = Math.min(offset + requireLimit(request.limit, TABLE_PAGE_ROWS.max), TABLE_ROWS_MAX);
    if (offset >= end) return { createdAt };
    const first = Math.floor(offset / TABLE_CHUNK_ROWS);
    const last = Math.floor((end - 1) / TABLE_CHUNK_ROWS);
    const stored = await db.readTenant(orgId, (tx) => readTableChunks(tx, orgId, objectId, { first, last }), {
      plans: "walks",
    });
    return { chunks: await mapInTurns(stored, unpackChunk), firstRow: first * TABLE_CHUNK_ROWS, createdAt };
  };
}

/** An object is removed with its run and its project, even while these can be restored. @throws not_found */
async function requireRun(runs: RunDirectory, caller: Caller, runId: string): Promise<void> {
  try {
    await runs.require(caller, [runId]);
  } catch (error) {
    throw isAppError(error) && error.reason === "not_found" ? notFound("object") : error;
  }
}

const PLAIN = 0;
const ZSTD = 1;
/** Bytes that are unpacked at a time: most chunks are not longer. The library's default of 16 KiB takes four times as long. */
const unpacking = { chunkSize: 256 * 1024 };
const compression = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** Packs a chunk. */
export function packChunk(chunk: TableChunk): PackedChunk {
  const plain = toBinary(TableChunkSchema, chunk);
  const packed = zstdCompressSync(plain, compression);
  const rows =
    packed.length < plain.length ? Buffer.concat([Buffer.of(ZSTD), packed]) : Buffer.concat([Buffer.of(PLAIN), plain]);
  return { rows, bytes: chunk.columns.reduce((sum, cells) => sum + cells.length, 0) };
}

/** Reads the rows that `packChunk` wrote. @throws Error for anything else */
export function unpackChunk(bytes: Buffer): TableChunk {
  const rest = bytes.subarray(1);
  if (bytes[0] === PLAIN) return fromBinary(TableChunkSchema, rest);
  if (bytes[0] === ZSTD) return fromBinary(TableChunkSchema, zstdDecompressSync(rest, unpacking));
  throw new Error(`a chunk of a table is stored in a form that is not known: ${bytes[0]}`);
}
