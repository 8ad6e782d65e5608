import { sql, type Tx } from "@tidemark/pg";
import type { OrganizationRow } from "../domain/records.ts";
import { organizationColumns } from "./columns.ts";

const statement = sql(
  "control_find_organization",
  `SELECT ${organizationColumns} FROM control.organizations WHERE org_id = $1 AND deleted_at IS NULL`,
);

/** The organization, unless it was deleted. */
export function findOrganization(tx: Tx, orgId: string): Promise<OrganizationRow | undefined> {
  return tx.one(statement, [orgId]);
}
