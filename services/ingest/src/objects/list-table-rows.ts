import { badRequest, isAppError, notFound } from "@tidemark/errors";
import { TABLE_CHUNK_ROWS, TABLE_PAGE_ROWS, TABLE_ROWS_MAX } from "@tidemark/limits";
import type { Db } from "@tidemark/pg";
import type { ListTableRowsRequestSchema, ListTableRowsResponseSchema } from "@tidemark/proto/ingest/v1/objects";
import { callerOf, canSee, requireLimit, throwFault, type Caller, type RunDirectory } from "@tidemark/requests";
import type { Handler } from "@tidemark/rpc";
import { mapInTurns } from "@tidemark/work";
import { unpackChunk } from "./table-chunks.ts";
import { findTable, readTableChunks } from "./table-rows.sql.ts";

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
