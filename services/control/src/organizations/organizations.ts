import { AppError, badRequest, notFound } from "@tidemark/errors";
import { callerOf, readPage, throwFault } from "@tidemark/requests";
import { PAGE_ROWS } from "@tidemark/limits";
import { recordAudit } from "../audit/audit-events.ts";
import type { ControlDeps, ControlHandlers } from "../deps.ts";
import { commitProjectionChange } from "../projection/lock-caller.ts";
import { firstBillingState, readBillingState, readPlanTier, readSlug, seatLimit, slugOf } from "./people.rules.ts";
import { requireOperator, visibleOrganization } from "./users.ts";
import { encodeOrganization } from "./encode-organization.ts";
import { insertMembership } from "./memberships.sql.ts";
import {
  insertOrganization,
  listOrganizationRows,
  lockOrganization,
  requireOrganization,
  slugTaken,
  updateOrganizationRow,
} from "./organizations.sql.ts";
import { findUser } from "./users.sql.ts";

/**
 * Creates an organization of a customer, with an owner when one is named. For operators.
 * @throws unauthenticated; bad_request; not_found for an unknown owner; conflict for a taken short name
 */
export function createOrganization(deps: ControlDeps): ControlHandlers["createOrganization"] {
  return async (request, call) => {
    requireOperator(call);
    if (request.name === "" && request.slug === "") throw badRequest("name or slug is required", "name");
    const planTier = readPlanTier(request.planTier);
    const orgId = deps.newId();
    const owner = request.ownerUserId || undefined;
    const organization = await commitProjectionChange(deps, orgId, async (tx) => {
      if (owner !== undefined && (await findUser(tx, owner)) === undefined) throw notFound("owner user");
      const made = await insertOrganization(tx, {
        orgId,
        slug: request.slug === "" ? slugOf(request.name) : readSlug(request.slug),
        name: request.name || request.slug,
        planTier,
        billingState: firstBillingState(planTier),
        accountType: "customer",
        seatLimit: seatLimit(deps.settings.plans, planTier, "customer"),
        createdByUserId: owner,
        now: deps.now(),
      });
      if (made === undefined) throw new AppError("conflict", "an organization with this slug exists");
      if (owner !== undefined) {
        const id = deps.newId();
        await insertMembership(tx, { orgId, id, userId: owner, role: "owner", status: "active", now: deps.now() });
      }
      await recordAudit(tx, call, { orgId, action: "organization.created", target: organizationOf(orgId) });
      return made;
    });
    return { organization: encodeOrganization(organization) };
  };
}

/** Returns the organization of the caller. @throws unauthenticated; not_found */
export function getOrganization({ db }: ControlDeps): ControlHandlers["getOrganization"] {
  return async (_request, call) => {
    const { orgId } = callerOf(call);
    return { organization: encodeOrganization(await db.readTenant(orgId, (tx) => requireOrganization(tx, orgId))) };
  };
}

/** Lists all organizations, oldest first. For operators. @throws unauthenticated */
export function listOrganizations({ db }: ControlDeps): ControlHandlers["listOrganizations"] {
  return async ({ page }, call) => {
    requireOperator(call);
    return { organizations: (await listOrganizationRows(db, readPage(page, PAGE_ROWS))).map(encodeOrganization) };
  };
}

/**
 * Sets the plan, with the seats that it includes, or the billing state, or both. For operators.
 * @throws unauthenticated; not_found; bad_request for an unknown plan or state, or when neither is given
 */
export function updateOrganization(deps: ControlDeps): ControlHandlers["updateOrganization"] {
  return async (request, call) => {
    requireOperator(call);
    const orgId = visibleOrganization(call, request.orgId);
    const organization = await commitProjectionChange(deps, orgId, async (tx) => {
      const before = await lockOrganization(tx, orgId);
      if (before === undefined) throw notFound("organization");
      throwFault(request.bodyFault);
      const { planTier, billingState } = request;
      if (planTier === undefined && billingState === undefined) {
        throw badRequest("plan_tier or billing_state is required", "plan_tier");
      }
      const plan = planTier === undefined ? before.plan_tier : readPlanTier(planTier);
      await recordAudit(tx, call, { orgId, action: "organization.changed", target: organizationOf(orgId) });
      return updateOrganizationRow(tx, {
        orgId,
        planTier: plan,
        billingState: billingState === undefined ? before.billing_state : readBillingState(billingState),
        seatLimit:
          plan === before.plan_tier ? before.seat_limit : seatLimit(deps.settings.plans, plan, before.account_type),
      });
    });
    return { organization: encodeOrganization(organization) };
  };
}

function organizationOf(id: string): { readonly type: string; readonly id: string } {
  return { type: "organization", id };
}

/** Returns whether an organization may be created under a name, that is, whether its short name is free. */
export function checkOrganizationName({ db }: ControlDeps): ControlHandlers["checkOrganizationName"] {
  return async ({ name }) => {
    const slug = slugOf(name);
    return { name, slug, available: !(await slugTaken(db, slug)) };
  };
}
