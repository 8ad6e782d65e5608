import { BATCH_BYTES, TABLE_CHUNK_ROWS } from "@tidemark/limits";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Db, Tx } from "@tidemark/pg";
import type { TableChunk } from "@tidemark/proto/ingest/v1/objects";
import type {
  PageTableRowsRequestSchema,
  PageTableRowsResponseSchema,
  TableRowsSchema,
} from "@tidemark/proto/ingest/v1/run_data";
import { callerOf, pathId, type RunDirectory } from "@tidemark/requests";
import type { Handler } from "@tidemark/rpc";
import { createPauses } from "@tidemark/turns";
import { unpackChunk } from "../objects/chunk-bytes.ts";
import type { ObjectPlace } from "./object-place.rules.ts";
import { readPlaceCursor, writePlaceCursor } from "./place-cursor.ts";
import { pageTables, readChunksOfTables } from "./table-batches.sql.ts";

/** Tables of a page. */
const TABLES = 256;

/** Bytes of chunks, as stored, that are read for a page. Unpacked they may be many times as many; a page takes no more of these than its limit. */
const STORED_BYTES = 1024 * 1024;

type Page = { readonly tables: MessageInitShape<typeof TableRowsSchema>[]; readonly nextCursor: string };

/** IngestReadService.PageTableRows. @throws not_found, bad_request */
export function pageTableRowsHandler(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
}): Handler<typeof PageTableRowsRequestSchema, typeof PageTableRowsResponseSchema> {
  const { db, runs } = deps;
  return async (request, call) => {
    const caller = callerOf(call);
    const runId = pathId(request.runId, "run");
    const from = readPlaceCursor(request.cursor);
    await runs.require(caller, [runId]);
    return db.readTenant(caller.orgId, (tx) => readPage(tx, caller.orgId, runId, from), { plans: "walks" });
  };
}

/** Reads from a chunk of a table on. */
async function readPage(
  tx: Tx,
  orgId: string,
  runId: string,
  { place, number }: { readonly place: ObjectPlace; readonly number: number },
): Promise<Page> {
  const found = await pageTables(tx, orgId, runId, place, TABLES + 1);
  const places = found.slice(0, TABLES);
  const ids = places.map(({ id }) => id);
  // The table of the cursor is the first of the page, since tables stay.
  const stored = ids.length === 0 ? [] : await readChunksOfTables(tx, orgId, ids, number, STORED_BYTES);
  const byId = new Map(places.map((table) => [table.id, table]));
  const tables: Page["tables"] = [];
  let bytes = 0;
  const pauseIfLong = createPauses();
  for (const { id, chunk, rows } of stored) {
    const pause = pauseIfLong();
    if (pause !== undefined) await pause;
    const table = byId.get(id)!;
    if (bytes >= BATCH_BYTES) return { tables, nextCursor: writePlaceCursor(table, chunk) };
    const unpacked = unpackChunk(rows);
    bytes += weigh(unpacked);
    tables.push({
      objectId: table.id,
      firstRow: chunk * TABLE_CHUNK_ROWS,
      chunk: unpacked,
      createdAt: table.createdAt,
    });
  }
  const last = stored.at(-1);
  // Whether a page of this many stored bytes was the whole rest is not known; the next page begins after it.
  if (last !== undefined && storedBytes(stored) >= STORED_BYTES)
    return { tables, nextCursor: writePlaceCursor(byId.get(last.id)!, last.chunk + 1) };
  return { tables, nextCursor: found.length > TABLES ? writePlaceCursor(found[TABLES]!) : "" };
}

/** Where rows have columns of their own, names are most of a chunk. */
function weigh({ names, columns }: TableChunk): number {
  return columns.reduce((sum, column, i) => sum + column.length + names[i]!.length, 0);
}

function storedBytes(chunks: readonly { readonly rows: Buffer }[]): number {
  return chunks.reduce((sum, { rows }) => sum + rows.length, 0);
}
