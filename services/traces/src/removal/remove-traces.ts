import type { Db, Removal } from "@tidemark/pg";
import { callerOf, readRemovalScope } from "@tidemark/requests";
import type { TracesDeps, TracesHandlers } from "../deps.ts";
import { measureRemovalOf, removeOrganizationRows, removeRunRows, removeScopeRows } from "./removed-rows.sql.ts";

/** Removes all traces of a run, a project whose runs are gone, or an organization. Resolves to true: nothing is left. `db` runs as the worker. */
export async function removeTraces(db: Db, { orgId, kind, id }: Removal): Promise<boolean> {
  if (kind === "run") await removeRunRows(db, orgId, id);
  else if (kind === "project") await removeScopeRows(db, orgId, id);
  else await removeOrganizationRows(db, orgId);
  return true;
}

/** TracesService.MeasureRemoval, at one moment. @throws not_found */
export function measureRemoval(deps: Pick<TracesDeps, "db" | "runs">): TracesHandlers["measureRemoval"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const scope = await readRemovalScope(deps.runs, caller, request);
    return deps.db.readTenant(caller.orgId, (tx) => measureRemovalOf(tx, caller.orgId, scope), { plans: "walks" });
  };
}
