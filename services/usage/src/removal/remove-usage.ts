import { organizationRemover, type Db, type Removal } from "@tidemark/pg";

const removeRowsOfOrganization = organizationRemover("usage", ["month_requests", "token_buckets"]);

/** Removes what is counted for an organization; of runs and projects nothing is. Resolves to true: nothing is left. `db` runs as the worker. */
export async function removeUsage(db: Db, { orgId, kind }: Removal): Promise<boolean> {
  if (kind === "organization") await removeRowsOfOrganization(db, orgId);
  return true;
}
