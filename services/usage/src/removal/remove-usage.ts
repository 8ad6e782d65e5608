import { removalSql, removeRows, type Db, type Removal, type Statement } from "@tidemark/pg";

/** All rows of an organization. Value: the organization. */
const rowsOfOrganization: readonly Statement[] = ["month_requests", "token_buckets"].map((table) =>
  removalSql(`usage_remove_${table}_of_org`, `usage.${table}`, "org_id = $2"),
);

/** Removes what is counted for an organization; of runs and projects nothing is. Resolves to true: nothing is left. `db` runs as the worker. */
export async function removeUsage(db: Db, { orgId, kind }: Removal): Promise<boolean> {
  if (kind !== "organization") return true;
  for (const statement of rowsOfOrganization) await removeRows(db, orgId, { statement, values: [orgId] });
  return true;
}
