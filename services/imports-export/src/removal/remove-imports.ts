import { removeRows, type Db, type Removal } from "@tidemark/pg";
import { importedRun, removeRowsOfOrganization, rowsOfProject, unlinkRun } from "./removed-rows.sql.ts";

/** Removes the data that imports have about a run, a project or an organization. Resolves to true: nothing is left. `db` runs as the service. */
export async function removeImports(db: Db, { orgId, kind, id }: Removal): Promise<boolean> {
  if (kind === "run") {
    await removeRows(db, orgId, { statement: importedRun, values: [orgId, id] });
    await db.withTenant(orgId, (tx) => unlinkRun(tx, orgId, id));
  } else if (kind === "project") {
    for (const statement of rowsOfProject) await removeRows(db, orgId, { statement, values: [orgId, id] });
  } else {
    await removeRowsOfOrganization(db, orgId);
  }
  return true;
}
