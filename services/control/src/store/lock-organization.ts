import { sql, type Tx } from "@tidemark/pg";
import { organizationColumns, type OrganizationRow } from "./rows-organizations.ts";

const lockOrganizationSql = sql(
  "control_lock_organization",
  `SELECT ${organizationColumns} FROM control.organizations WHERE org_id = $1 AND deleted_at IS NULL FOR NO KEY UPDATE`,
);

/** The organization, locked so that its seats are counted and taken by one transaction at a time. */
export function lockOrganization(tx: Tx, orgId: string): Promise<OrganizationRow | undefined> {
  return tx.one(lockOrganizationSql, [orgId]);
}
