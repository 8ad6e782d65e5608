import { badRequest, isAppError, notFound } from "@tidemark/errors";
import { TABLE_CHUNK_ROWS, TABLE_PAGE_ROWS, TABLE_ROWS_TOTAL_MAX } from "@tidemark/limits";
import type { Db } from "@tidemark/pg";
import type { ListTableRowsRequestSchema, ListTableRowsResponseSchema } from "@tidemark/proto/ingest/v1/objects";
import { callerOf, canSee, requireLimit, throwFault, type Caller, type RunDirectory } from "@tidemark/requests";
import type { Handler } from "@tidemark/rpc";
import { mapInTurns } from "@tidemark/work";
import type { FieldFault } from "@tidemark/proto/common/v1/common";
import { findTable, readTableChunks, type TableRef } from "./objects.sql.ts";
import { unpackChunk } from "./table-pack.ts";
import { createTableSelector } from "./table-selection.ts";

/**
 * IngestReadService.ListTableRows: reads the chunks that hold the page, and no others; for an order, a filter or a text all of them.
 * @throws not_found, then bad_request
 */
export function listTableRowsHandler(
  deps: Deps,
): Handler<typeof ListTableRowsRequestSchema, typeof ListTableRowsResponseSchema> {
  const { db } = deps;
  const select = createTableSelector(db);
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const { objectId, offset, sortBy, descending, filter, q } = request;
    const { createdAt } = await requireTable(deps, caller, objectId, request.queryFault);
    const limit = requireLimit(request.limit, TABLE_PAGE_ROWS.max);
    if (sortBy !== "" || filter.trim() !== "" || q !== "") {
      const selected = await select({ orgId, objectId }, { sortBy, descending, filter, q }, { offset, limit });
      return { createdAt, selected };
    }
    const end = Math.min(offset + limit, TABLE_ROWS_TOTAL_MAX);
    if (offset >= end) return { createdAt };
    const first = Math.floor(offset / TABLE_CHUNK_ROWS);
    const last = Math.floor((end - 1) / TABLE_CHUNK_ROWS);
    const stored = await db.readTenant(orgId, (tx) => readTableChunks(tx, orgId, objectId, { first, last }), {
      plans: "walks",
    });
    return { chunks: await mapInTurns(stored, unpackChunk), firstRow: first * TABLE_CHUNK_ROWS, createdAt };
  };
}

type Deps = { readonly db: Db; readonly runs: RunDirectory };

/** Returns the table with this id. @throws not_found, then bad_request for a fault of the request, or an object of another kind */
export async function requireTable(
  { db, runs }: Deps,
  caller: Caller,
  objectId: number,
  fault: FieldFault | undefined,
): Promise<TableRef> {
  const { orgId } = caller;
  if (!Number.isSafeInteger(objectId)) throw notFound("object");
  const table = await db.readTenant(orgId, (tx) => findTable(tx, orgId, objectId), { plans: "walks" });
  if (table === undefined || !canSee(caller, { ...table, orgId })) throw notFound("object");
  await requireRun(runs, caller, table.runId);
  throwFault(fault);
  if (table.kind !== "table") throw badRequest("the object is not a table");
  return table;
}

/** An object is removed with its run and its project, even while these can be restored. @throws not_found */
async function requireRun(runs: RunDirectory, caller: Caller, runId: string): Promise<void> {
  try {
    await runs.require(caller, [runId]);
  } catch (error) {
    throw isAppError(error) && error.reason === "not_found" ? notFound("object") : error;
  }
}
