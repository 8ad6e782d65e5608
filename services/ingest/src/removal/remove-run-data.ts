import type { Db, Removal } from "@tidemark/pg";
import { removeOrganizationRows, removeProjectRows, removeRunRows } from "./removed-rows.sql.ts";

/** Removes all run data of a run, a project whose runs are gone, or an organization. Resolves to true: nothing is left. `db` runs as the worker. */
export async function removeRunData(db: Db, { orgId, kind, id, projectId }: Removal): Promise<boolean> {
  if (kind === "run") await removeRunRows(db, orgId, id, projectId!);
  else if (kind === "project") await removeProjectRows(db, orgId, id);
  else await removeOrganizationRows(db, orgId);
  return true;
}
