import type { Db, Removal } from "@tidemark/pg";
import type { MeasureRemovalRequestSchema, MeasureRemovalResponseSchema } from "@tidemark/proto/ingest/v1/ingest";
import { callerOf, readRemovalScope, type RunDirectory } from "@tidemark/requests";
import type { Handler } from "@tidemark/rpc";
import { measureRemovalOf, removeOrganizationRows, removeProjectRows, removeRunRows } from "./removal.sql.ts";

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

/** Removes all run data of a run, a project whose runs are gone, or an organization. Resolves to true: nothing is left. `db` runs as the worker. */
export async function removeRunData(db: Db, { orgId, kind, id, projectId }: Removal): Promise<boolean> {
  if (kind === "run") await removeRunRows(db, orgId, id, projectId!);
  else if (kind === "project") await removeProjectRows(db, orgId, id);
  else await removeOrganizationRows(db, orgId);
  return true;
}
