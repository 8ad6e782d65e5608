import { type Db, type Removal } from "@tidemark/pg";
import { removeProjectRow, removeRunRow, removeRowsOfOrganization } from "./removed-rows.sql.ts";

/** Removes a run, a project or a whole organization from this service. Resolves to true: nothing is left. `db` runs as the worker. */
export async function removeRuns(db: Db, { orgId, kind, id }: Removal): Promise<boolean> {
  if (kind === "run") await db.withTenant(orgId, (tx) => removeRunRow(tx, orgId, id));
  else if (kind === "project") await db.withTenant(orgId, (tx) => removeProjectRow(tx, orgId, id));
  else await removeRowsOfOrganization(db, orgId);
  return true;
}
