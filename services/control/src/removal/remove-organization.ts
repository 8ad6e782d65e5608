import { inBatches, type Db, type Removal } from "@tidemark/pg";
import { forgetOrganization, removeAudit, removeRowsOfOrganization, removeStoredBytes } from "./removed-rows.sql.ts";

const EVENTS_MAX = 1000;

/** Removes the credentials, members and log of an organization, when the other services have nothing of it any more. Resolves to true: nothing is left. `db` runs as the worker. */
export async function removeOrganization(db: Db, { orgId, kind }: Removal): Promise<boolean> {
  if (kind !== "organization") return true;
  await removeRowsOfOrganization(db, orgId);
  await inBatches(EVENTS_MAX, (rowsMax) => db.withTenant(orgId, (tx) => removeAudit(tx, orgId, rowsMax)));
  await db.withTenant(orgId, async (tx) => {
    await removeStoredBytes(tx, orgId);
    await forgetOrganization(tx, orgId);
  });
  return true;
}
