import { sql, type Tx } from "@tidemark/pg";
import type { OrganizationRow } from "../domain/records.ts";
import { organizationColumns } from "./columns.ts";

const statement = sql(
  "control_list_organizations",
  `SELECT ${organizationColumns} FROM control.list_organizations($1, $2)`,
);

/** All organizations, oldest first; for operators. */
export function listOrganizations(tx: Tx, page: { limit: number; offset: number }): Promise<OrganizationRow[]> {
  return tx.rows(statement, [page.limit, page.offset]);
}
