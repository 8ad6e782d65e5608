import { organizationRemover, type Db, type Removal } from "@tidemark/pg";

const removeRowsOfOrganization = organizationRemover("usage", ["month_requests", "token_buckets"]);

/** Removes the counts of an organization; runs and projects have none. Resolves to true: nothing is left. `db` runs as the worker. */
export async function removeUsage(db: Db, { orgId, kind }: Removal): Promise<boolean> {
  if (kind === "organization") await removeRowsOfOrganization(db, orgId);
  return true;
}
