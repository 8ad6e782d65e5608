import { AppError } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import type { PlanTier } from "@tidemark/plans";
import { firstBillingState } from "../domain/billing.ts";
import type { AccountType } from "../domain/plans.ts";
import { seatLimit } from "../domain/seats.ts";
import { slugOf, withSuffix } from "../domain/slugs.ts";
import { enterOrganization } from "../store/enter-organization.ts";
import { insertMembership } from "../store/insert-membership.ts";
import { insertOrganization } from "../store/insert-organization.ts";
import type { MembershipRow } from "../store/rows-memberships.ts";
import type { OrganizationRow } from "../store/rows-organizations.ts";
import type { ControlDeps } from "./deps.ts";

const suffixLength = 6;

/** 503: a paid plan comes from the operator; there is nobody here to pay. */
export function requireFreePlan(plan: PlanTier): void {
  if (plan === "free") return;
  throw new AppError("billing_unavailable", "this installation takes no payments; ask its operator for another plan");
}

/**
 * Makes an organization with its owner and enters it. A name that the owner chose must be free; one
 * that was derived for them gets something added when its short name is taken.
 * @throws conflict
 */
export async function foundOrganization(
  tx: Tx,
  { newId, now, settings }: ControlDeps,
  wish: { name: string; derived: boolean; accountType: AccountType; planTier: PlanTier; userId: string },
): Promise<{ organization: OrganizationRow; membership: MembershipRow }> {
  const orgId = newId();
  await enterOrganization(tx, orgId);
  const slug = slugOf(wish.name);
  const facts = {
    orgId,
    name: wish.name,
    planTier: wish.planTier,
    billingState: firstBillingState(wish.planTier),
    accountType: wish.accountType,
    seatLimit: seatLimit(settings.plans, wish.planTier, wish.accountType),
    createdByUserId: wish.userId,
    now: now(),
  };
  let organization = await insertOrganization(tx, { ...facts, slug });
  if (organization === undefined && wish.derived) {
    organization = await insertOrganization(tx, { ...facts, slug: withSuffix(slug, orgId.slice(0, suffixLength)) });
  }
  if (organization === undefined) throw new AppError("conflict", "an organization with this name exists");
  const owner = { orgId, id: newId(), userId: wish.userId, role: "owner", status: "active", now: now() } as const;
  const membership = await insertMembership(tx, owner);
  return { organization, membership: membership! };
}
