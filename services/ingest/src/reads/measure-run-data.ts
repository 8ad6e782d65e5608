import { badRequest } from "@tidemark/errors";
import { RUNS_PAGE_ROWS } from "@tidemark/limits";
import type { Db, Tx } from "@tidemark/pg";
import type { MeasureRunDataRequestSchema, MeasureRunDataResponseSchema } from "@tidemark/proto/ingest/v1/run_data";
import { callerOf, pathId, type RunDirectory } from "@tidemark/requests";
import type { Handler } from "@tidemark/rpc";
import { unpackChunk } from "../objects/table-pack.ts";
import { hasMoreAttributes, listTables, measureRuns, readLastChunks } from "./measures.sql.ts";
import { boundRows } from "../objects/object.rules.ts";

/** IngestReadService.MeasureRunData, at one moment. @throws not_found, bad_request */
export function measureRunDataHandler(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
}): Handler<typeof MeasureRunDataRequestSchema, typeof MeasureRunDataResponseSchema> {
  const { db, runs } = deps;
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const runIds = request.runIds.map((runId) => pathId(runId, "run"));
    if (runIds.length > RUNS_PAGE_ROWS.max)
      throw badRequest(`at most ${RUNS_PAGE_ROWS.max} runs are measured in one call`);
    await runs.require(caller, runIds);
    return db.readTenant(
      orgId,
      async (tx) => ({
        runs: (await measureRuns(tx, orgId, runIds)).map((row) => ({ ...row, objectKinds: [...row.objectKinds] })),
        moreAttributes: await hasMoreAttributes(tx, orgId, runIds, request.attributesMax),
        moreTableRows: await hasMoreTableRows(tx, orgId, runIds, request),
      }),
      { plans: "walks" },
    );
  };
}

/** Last chunks that are read at a time. */
const ENDS = 64;

/**
 * Returns whether the tables of runs have more than `tableRowsMax` rows; looks at `attributesMax` tables at most. The numbers of their last chunks are usually
 * enough. Where they are not, the last chunks are read until the answer is known.
 */
async function hasMoreTableRows(
  tx: Tx,
  orgId: string,
  runIds: readonly string[],
  { attributesMax, tableRowsMax }: { readonly attributesMax: number; readonly tableRowsMax: number },
): Promise<boolean> {
  const tables = (await listTables(tx, orgId, runIds, attributesMax)).filter(({ lastChunk }) => lastChunk >= 0);
  const { least, most, beforeEnds } = boundRows(tables);
  if (least > tableRowsMax) return true;
  if (most <= tableRowsMax) return false;
  let rows = beforeEnds;
  for (let at = 0; at < tables.length && rows <= tableRowsMax; at += ENDS) {
    const ends = await readLastChunks(tx, orgId, tables.slice(at, at + ENDS));
    for (const bytes of ends) rows += unpackChunk(bytes).rowCount;
  }
  return rows > tableRowsMax;
}
