import { rowsOfChunk } from "@tidemark/archive";
import type { ChangePublisher } from "@tidemark/bus";
import { parseExact, type ExactObject } from "@tidemark/documents";
import { AppError, badRequest, notFound } from "@tidemark/errors";
import { TABLE_ROWS_MAX } from "@tidemark/limits";
import type { Db } from "@tidemark/pg";
import { ChangeKind } from "@tidemark/proto/changes/v1/changes";
import type { AppendTableRowsRequestSchema, AppendTableRowsResponseSchema } from "@tidemark/proto/ingest/v1/objects";
import { admitWrite, callerOf, type PlanGate, type RunDirectory } from "@tidemark/requests";
import type { Handler } from "@tidemark/rpc";
import { mapInTurns } from "@tidemark/work";
import { areChunks } from "./object.rules.ts";
import { lockTable, putSummary } from "./table-end.sql.ts";
import { putRows, readTableEnd, requireRoom } from "./table-end.ts";
import { requireTable } from "./table-rows.ts";

/**
 * IngestService.AppendTableRows. `offset` makes it safe to repeat: rows that have arrived are not appended again.
 * @throws not_found, then bad_request, payment_required, plan_limit_exceeded, table_offset_mismatch with the number of rows in its position
 */
export function appendTableRowsHandler(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
  readonly storageGate: PlanGate;
  readonly noteChange: ChangePublisher["note"];
}): Handler<typeof AppendTableRowsRequestSchema, typeof AppendTableRowsResponseSchema> {
  const { db, storageGate, noteChange } = deps;
  return async ({ objectId, offset, chunks, bodyFault }, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const { runId, projectId } = await requireTable(deps, caller, objectId, bodyFault);
    if (chunks.length === 0 || !areChunks(chunks)) {
      throw badRequest(`rows must be 1 to ${TABLE_ROWS_MAX} rows of a table`, "rows");
    }
    const bytes = chunks.reduce((sum, { columns }) => columns.reduce((all, cells) => all + cells.length, sum), 0);
    await admitWrite(storageGate, caller, bytes, () => Promise.resolve(false));
    const rows = (await mapInTurns(chunks, (chunk) => rowsOfChunk(chunk, 0, chunk.rowCount))).flat();
    const { table, rowCount } = await db.withTenant(orgId, async (tx) => {
      const locked = await lockTable(tx, orgId, objectId);
      if (locked === undefined) throw notFound("object");
      const end = await readTableEnd(tx, orgId, objectId);
      if (offset !== end.rowCount) throw otherOffset(end.rowCount);
      const total = end.rowCount + rows.length;
      requireRoom(total);
      await putRows(tx, orgId, objectId, end, rows);
      const summary = summaryWith(locked.summaryJson, end.rowCount, rows);
      if (summary !== undefined) await putSummary(tx, orgId, objectId, summary);
      return { table: locked, rowCount: total };
    });
    const { key, step } = table;
    noteChange({ orgId, projectId, runId, kind: ChangeKind.OBJECTS, keys: [key], step: step ?? undefined });
    return { rowCount };
  };
}

function otherOffset(rowCount: number): AppError {
  return new AppError("table_offset_mismatch", `the table has ${rowCount} rows; offset must be ${rowCount}`, {
    field: "offset",
    position: rowCount,
  });
}

/** Returns the summary of a table with more rows: their number, and of the first ones their columns. Undefined where its client gave it another number. */
function summaryWith(json: string, before: number, rows: readonly string[]): string | undefined {
  const summary = parseExact(json) as ExactObject;
  if (Number(summary["row_count"]) !== before) return undefined;
  const columns = before === 0 ? { columns: Object.keys(parseExact(rows[0]!) as ExactObject) } : {};
  return JSON.stringify({ ...summary, row_count: before + rows.length, ...columns });
}
