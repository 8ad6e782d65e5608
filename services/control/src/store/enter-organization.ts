import { sql, type Tx } from "@tidemark/pg";

const enterOrganizationSql = sql("control_enter_organization", "SELECT platform.enter_org($1)");

/** From here on the transaction sees and writes this organization's rows only. */
export async function enterOrganization(tx: Tx, orgId: string): Promise<void> {
  await tx.rows(enterOrganizationSql, [orgId]);
}
