import type { Db } from "@tidemark/pg";
import type { MeasureRemovalRequestSchema, MeasureRemovalResponseSchema } from "@tidemark/proto/ingest/v1/ingest";
import { callerOf, readRemovalScope, type RunDirectory } from "@tidemark/requests";
import type { Handler } from "@tidemark/rpc";
import { measureRemovalOf } from "./removal.sql.ts";

/** IngestReadService.MeasureRemoval, at one moment. @throws not_found */
export function measureRemovalHandler(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
}): Handler<typeof MeasureRemovalRequestSchema, typeof MeasureRemovalResponseSchema> {
  return async (request, call) => {
    const caller = callerOf(call);
    const scope = await readRemovalScope(deps.runs, caller, request);
    return deps.db.readTenant(caller.orgId, (tx) => measureRemovalOf(tx, caller.orgId, scope), { plans: "walks" });
  };
}
