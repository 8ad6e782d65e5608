import { sql, type Tx } from "@tidemark/pg";
import { organizationColumns, type OrganizationRow } from "./rows-organizations.ts";

const listOrganizationsSql = sql(
  "control_list_organizations",
  `SELECT ${organizationColumns} FROM control.list_organizations($1, $2)`,
);

/** All organizations, oldest first; for operators. */
export function listOrganizationRows(tx: Tx, page: { limit: number; offset: number }): Promise<OrganizationRow[]> {
  return tx.rows(listOrganizationsSql, [page.limit, page.offset]);
}
