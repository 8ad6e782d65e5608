import { badRequest } from "@tidemark/errors";
import { RUNS_PAGE_ROWS } from "@tidemark/limits";
import type { Db } from "@tidemark/pg";
import type { MeasureRunDataRequestSchema, MeasureRunDataResponseSchema } from "@tidemark/proto/ingest/v1/run_data";
import { callerOf, pathId, type RunDirectory } from "@tidemark/requests";
import type { Handler } from "@tidemark/rpc";
import { hasMoreTableRows } from "./has-more-table-rows.ts";
import { hasMoreAttributes, measureRuns } from "./measures.sql.ts";

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
    if (runIds.length > RUNS_PAGE_ROWS.max) throw badRequest(`at most ${RUNS_PAGE_ROWS.max} runs are measured at once`);
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
