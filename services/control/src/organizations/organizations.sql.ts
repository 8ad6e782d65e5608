import { notFound } from "@tidemark/errors";
import { sql, type Tx } from "@tidemark/pg";
import type { BillingState, PlanTier } from "@tidemark/limits";
import type { AccountType } from "./people.rules.ts";

/** An organization: a tenant. */
export type OrganizationRow = {
  org_id: string;
  slug: string;
  name: string;
  plan_tier: PlanTier;
  billing_state: BillingState;
  account_type: AccountType;
  seat_limit: number;
  created_by_user_id: string | null;
  created_at: string;
};

const organizationColumns =
  "org_id, slug, name, plan_tier, billing_state, account_type, seat_limit, created_by_user_id, created_at";

const enterOrganizationSql = sql("control_enter_organization", "SELECT platform.enter_org($1)");

/** From here on the transaction sees and writes only rows of this organization. */
export async function enterOrganization(tx: Tx, orgId: string): Promise<void> {
  await tx.rows(enterOrganizationSql, [orgId]);
}

const findOrganizationSql = sql(
  "control_find_organization",
  `SELECT ${organizationColumns} FROM control.organizations WHERE org_id = $1 AND deleted_at IS NULL`,
);

/** Returns the organization, unless it was deleted. */
export function findOrganization(tx: Tx, orgId: string): Promise<OrganizationRow | undefined> {
  return tx.one(findOrganizationSql, [orgId]);
}

/** Returns the organization. @throws not_found, also for one that was deleted */
export async function requireOrganization(tx: Tx, orgId: string): Promise<OrganizationRow> {
  const organization = await findOrganization(tx, orgId);
  if (organization === undefined) throw notFound("organization");
  return organization;
}

const lockOrganizationSql = sql(
  "control_lock_organization",
  `SELECT ${organizationColumns} FROM control.organizations WHERE org_id = $1 AND deleted_at IS NULL FOR NO KEY UPDATE`,
);

/** Returns the organization and locks it, so that one transaction at a time counts and takes its seats. */
export function lockOrganization(tx: Tx, orgId: string): Promise<OrganizationRow | undefined> {
  return tx.one(lockOrganizationSql, [orgId]);
}

const listOrganizationsSql = sql(
  "control_list_organizations",
  `SELECT ${organizationColumns} FROM control.list_organizations($1, $2)`,
);

/** Returns all organizations, oldest first. */
export function listOrganizationRows(tx: Tx, page: { limit: number; offset: number }): Promise<OrganizationRow[]> {
  return tx.rows(listOrganizationsSql, [page.limit, page.offset]);
}

const slugTakenSql = sql("control_slug_taken", "SELECT control.slug_taken($1) AS taken");

/** Returns whether any organization has this short name. */
export async function slugTaken(tx: Tx, slug: string): Promise<boolean> {
  return (await tx.one<{ taken: boolean }>(slugTakenSql, [slug]))!.taken;
}

const insertOrganizationSql = sql(
  "control_insert_organization",
  `INSERT INTO control.organizations
     (org_id, slug, name, plan_tier, billing_state, account_type, seat_limit, created_by_user_id, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
   ON CONFLICT DO NOTHING
   RETURNING ${organizationColumns}`,
);

/** The fields of a new organization. */
export type NewOrganization = {
  orgId: string;
  slug: string;
  name: string;
  planTier: PlanTier;
  billingState: BillingState;
  accountType: AccountType;
  seatLimit: number;
  createdByUserId: string | undefined;
  now: Date;
};

/** Inserts an organization; returns undefined when its short name or id is taken. The transaction has entered it. */
export function insertOrganization(tx: Tx, org: NewOrganization): Promise<OrganizationRow | undefined> {
  return tx.one(insertOrganizationSql, [
    org.orgId,
    org.slug,
    org.name,
    org.planTier,
    org.billingState,
    org.accountType,
    org.seatLimit,
    org.createdByUserId ?? null,
    org.now.toISOString(),
  ]);
}

const updateOrganizationSql = sql(
  "control_update_organization",
  `UPDATE control.organizations
   SET plan_tier = $2, billing_state = $3, seat_limit = $4, changed_xid = pg_current_xact_id()
   WHERE org_id = $1
   RETURNING ${organizationColumns}`,
);

/** Sets plan, billing state and number of seats of an organization that exists. */
export async function updateOrganizationRow(
  tx: Tx,
  org: { orgId: string; planTier: PlanTier; billingState: BillingState; seatLimit: number },
): Promise<OrganizationRow> {
  const row = await tx.one<OrganizationRow>(updateOrganizationSql, [
    org.orgId,
    org.planTier,
    org.billingState,
    org.seatLimit,
  ]);
  return row!;
}

/** An organization that may be deleted. */
export type DeletableOrganizationRow = OrganizationRow & {
  readonly deleted_at: string | null;
  readonly purge_after: string | null;
};

const lockDeletableSql = sql(
  "control_lock_deletable_organization",
  `SELECT ${organizationColumns}, deleted_at, purge_after FROM control.organizations
   WHERE org_id = $1 AND (purge_after IS NULL OR purge_after > $2) FOR NO KEY UPDATE`,
);

/** Returns the organization and locks it, also one that is deleted and can be restored. */
export function lockDeletableOrganization(
  tx: Tx,
  orgId: string,
  now: Date,
): Promise<DeletableOrganizationRow | undefined> {
  return tx.one(lockDeletableSql, [orgId, now.toISOString()]);
}

const markDeletedSql = sql(
  "control_mark_organization_deleted",
  `UPDATE control.organizations
   SET deleted_at = $2::timestamptz, purge_after = $2::timestamptz + $3::integer * interval '1 day', changed_xid = pg_current_xact_id()
   WHERE org_id = $1 RETURNING ${organizationColumns}, deleted_at, purge_after`,
);
const unmarkDeletedSql = sql(
  "control_unmark_organization_deleted",
  `UPDATE control.organizations SET deleted_at = NULL, purge_after = NULL, changed_xid = pg_current_xact_id()
   WHERE org_id = $1 RETURNING ${organizationColumns}, deleted_at, purge_after`,
);

/** Marks a locked organization as deleted, to be removed after `graceDays`. */
export async function markOrganizationDeleted(
  tx: Tx,
  orgId: string,
  { now, graceDays }: { readonly now: Date; readonly graceDays: number },
): Promise<DeletableOrganizationRow> {
  return (await tx.one<DeletableOrganizationRow>(markDeletedSql, [orgId, now.toISOString(), graceDays]))!;
}

/** Removes the deletion mark of a locked organization. */
export async function unmarkOrganizationDeleted(tx: Tx, orgId: string): Promise<DeletableOrganizationRow> {
  return (await tx.one<DeletableOrganizationRow>(unmarkDeletedSql, [orgId]))!;
}
