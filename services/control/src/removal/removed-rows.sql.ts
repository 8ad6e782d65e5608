import { beginRemovals, organizationRemover, sql, type Db, type Tx } from "@tidemark/pg";

const OTHERS = ["ingest", "artifacts", "traces", "imports", "reports", "usage", "runs"];

const dueSql = sql(
  "control_organizations_due_for_removal",
  "SELECT org_id FROM control.organizations WHERE purge_after > '-infinity' AND purge_after <= $1 ORDER BY purge_after LIMIT 100",
);
const closeSql = sql(
  "control_close_organization",
  `UPDATE control.organizations SET purge_after = '-infinity', changed_xid = pg_current_xact_id()
   WHERE org_id = $1 AND purge_after > '-infinity' AND purge_after <= $2`,
);

/** Makes the organizations whose time is over impossible to restore, and asks all services to remove them. `db` runs as the worker. */
export async function beginDueRemovals(db: Db, now: Date): Promise<void> {
  for (const { org_id: orgId } of await db.rows<{ org_id: string }>(dueSql, [now.toISOString()])) {
    await db.withTenant(orgId, async (tx) => {
      if ((await tx.count(closeSql, [orgId, now.toISOString()])) === 0) return;
      const removal = { orgId, kind: "organization", ids: [orgId], projectId: undefined, owner: "control" } as const;
      await beginRemovals(tx, { ...removal, others: OTHERS });
    });
  }
}

/** Removes all rows of an organization except its own row and its audit log, in an order in which none refers to a missing one. */
export const removeRowsOfOrganization = organizationRemover("control", [
  "sessions",
  "one_time_tokens",
  "device_logins",
  "invitations",
  "api_keys",
  "service_accounts",
  "memberships",
  "member_counts",
]);

const removeAuditSql = sql("control_remove_audit", "SELECT control.remove_audit_events($1, $2)::float8 AS removed");

/** Removes at most `rowsMax` events of the audit log of an organization that is being removed. Returns how many. */
export async function removeAudit(tx: Tx, orgId: string, rowsMax: number): Promise<number> {
  return (await tx.one<{ removed: number }>(removeAuditSql, [orgId, rowsMax]))!.removed;
}

const forgetNameSql = sql(
  "control_forget_organization",
  "UPDATE control.organizations SET name = '', created_by_user_id = NULL WHERE org_id = $1 AND purge_after = '-infinity'",
);

const removeStoredSql = sql("control_remove_stored_bytes", "DELETE FROM platform.stored_bytes WHERE org_id = $1");

/** Removes the byte counts of an organization that no longer stores anything. */
export async function removeStoredBytes(tx: Tx, orgId: string): Promise<void> {
  await tx.count(removeStoredSql, [orgId]);
}

/** Reduces an organization to its id and its short name, which are never free again. */
export async function forgetOrganization(tx: Tx, orgId: string): Promise<void> {
  await tx.count(forgetNameSql, [orgId]);
}
