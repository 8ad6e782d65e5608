import type { Db, Removal } from "@tidemark/pg";
import { removeOrganizationRows, removeRunRows, removeScopeRows } from "./removed-rows.sql.ts";

/** Removes all traces of a run, a project whose runs are gone, or an organization. Resolves to true: nothing is left. `db` runs as the worker. */
export async function removeTraces(db: Db, { orgId, kind, id }: Removal): Promise<boolean> {
  if (kind === "run") await removeRunRows(db, orgId, id);
  else if (kind === "project") await removeScopeRows(db, orgId, id);
  else await removeOrganizationRows(db, orgId);
  return true;
}
