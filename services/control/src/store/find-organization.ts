import { sql, type Tx } from "@tidemark/pg";
import { organizationColumns, type OrganizationRow } from "./rows-organizations.ts";

const findOrganizationSql = sql(
  "control_find_organization",
  `SELECT ${organizationColumns} FROM control.organizations WHERE org_id = $1 AND deleted_at IS NULL`,
);

/** The organization, unless it was deleted. */
export function findOrganization(tx: Tx, orgId: string): Promise<OrganizationRow | undefined> {
  return tx.one(findOrganizationSql, [orgId]);
}
