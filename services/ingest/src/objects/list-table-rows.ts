import { badRequest, notFound } from "@tidemark/errors";
import { TABLE_CHUNK_ROWS, TABLE_PAGE_ROWS, TABLE_ROWS_MAX } from "@tidemark/limits";
import type { Db } from "@tidemark/pg";
import type { ListTableRowsRequestSchema, ListTableRowsResponseSchema } from "@tidemark/proto/ingest/v1/objects";
import { callerOf, canSee, requireLimit, throwFault } from "@tidemark/requests";
import type { Handler } from "@tidemark/rpc";
import { unpackChunk } from "./chunk-bytes.ts";
import { findTable, readTableChunks } from "./table-rows.sql.ts";

/** IngestReadService.ListTableRows: reads the chunks that hold the page, and no others. @throws not_found, then bad_request */
export function listTableRowsHandler({
  db,
}: {
  readonly db: Db;
}): Handler<typeof ListTableRowsRequestSchema, typeof ListTableRowsResponseSchema> {
  return (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const { objectId, offset } = request;
    if (!Number.isSafeInteger(objectId)) throw notFound("object");
    return db.readTenant(
      orgId,
      async (tx) => {
        const table = await findTable(tx, orgId, objectId);
        if (table === undefined || !canSee(caller, { ...table, orgId })) throw notFound("object");
        throwFault(request.queryFault);
        if (table.kind !== "table") throw badRequest("the object is not a table");
        const { createdAt } = table;
        const end = Math.min(offset + requireLimit(request.limit, TABLE_PAGE_ROWS.max), TABLE_ROWS_MAX);
        if (offset >= end) return { createdAt };
        const first = Math.floor(offset / TABLE_CHUNK_ROWS);
        const last = Math.floor((end - 1) / TABLE_CHUNK_ROWS);
        const stored = await readTableChunks(tx, orgId, objectId, { first, last });
        return { chunks: stored.map(unpackChunk), firstRow: first * TABLE_CHUNK_ROWS, createdAt };
      },
      { plans: "walks" },
    );
  };
}
