import { type Db, type Removal, removeRows } from "@tidemark/pg";
import { embedsOfProject, removeReportsOf, removeRowsOfOrganization, removeViewsOf } from "./removed-rows.sql.ts";

/** Removes the reports, views and embeds of a project or an organization; a run has none. Resolves to true: nothing is left. `db` runs as the service. */
export async function removeReports(db: Db, { orgId, kind, id }: Removal): Promise<boolean> {
  if (kind === "project") {
    await db.withTenant(orgId, async (tx) => {
      await removeReportsOf(tx, orgId, id);
      await removeViewsOf(tx, orgId, id);
    });
    await removeRows(db, orgId, { statement: embedsOfProject, values: [orgId, id] });
  } else if (kind === "organization") {
    await removeRowsOfOrganization(db, orgId);
  }
  return true;
}
