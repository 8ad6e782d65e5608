import { AppError, badRequest, notFound } from "@tidemark/errors";
import { callerOf, readPage, throwFault, pathId } from "@tidemark/requests";
import { PAGE_ROWS } from "@tidemark/limits";
import { recordAudit } from "../audit/audit-events.ts";
import type { ControlDeps, ControlHandlers } from "../deps.ts";
import { commitProjectionChange, lockCaller } from "../projection/lock-caller.ts";
import {
  firstBillingState,
  readBillingState,
  readPlanTier,
  readSlug,
  seatLimit,
  slugOf,
  isAdmin,
} from "./people.rules.ts";
import { requireOperator, visibleOrganization, isOperator, requirePeopleManager, requireSession } from "./users.ts";
import { encodeOrganization } from "./encode-organization.ts";
import { insertMembership, lockMembership } from "./memberships.sql.ts";
import {
  insertOrganization,
  listOrganizationRows,
  lockOrganization,
  requireOrganization,
  slugTaken,
  updateOrganizationRow,
  enterOrganization,
  lockDeletableOrganization,
  markOrganizationDeleted,
  unmarkOrganizationDeleted,
} from "./organizations.sql.ts";
import { findUser } from "./users.sql.ts";
import type { Tx } from "@tidemark/pg";
import type { Call } from "@tidemark/rpc";

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

/**
 * Deletes an organization: its keys end, its sessions can only restore it or switch organizations, and everything is removed after the days of grace. A
 * repeated call answers the same. A dry run changes nothing and returns no organization. For operators, and owners and admins who are signed in.
 * @throws not_found, in a dry run also for a deleted one; forbidden; unauthenticated
 */
export function deleteOrganization(deps: ControlDeps): ControlHandlers["deleteOrganization"] {
  return async (request, call) => {
    const orgId = visibleOrganization(call, request.orgId);
    const row = await commitProjectionChange(deps, orgId, async (tx) => {
      requirePeopleManager(await lockCaller(tx, call, deps.now()));
      const organization = await lockDeletableOrganization(tx, orgId, deps.now());
      if (organization === undefined || (request.dryRun && organization.deleted_at !== null))
        throw notFound("organization");
      if (request.dryRun) return undefined;
      if (organization.deleted_at !== null) return organization;
      await recordAudit(tx, call, {
        orgId,
        action: "organization.deleted",
        target: { type: "organization", id: orgId },
      });
      return markOrganizationDeleted(tx, orgId, { now: deps.now(), graceDays: deps.settings.graceDays });
    });
    return row === undefined ? {} : { organization: encodeOrganization(row) };
  };
}

/**
 * Restores a deleted organization as it was; one that is not deleted is returned unchanged. For operators, and its owners and admins, wherever they are
 * signed in.
 * @throws not_found when it does not exist, its time is over or the caller is not a member; forbidden; unauthenticated
 */
export function undeleteOrganization(deps: ControlDeps): ControlHandlers["undeleteOrganization"] {
  return async (request, call) => {
    const orgId = pathId(request.orgId, "organization");
    const row = await commitProjectionChange(deps, orgId, async (tx) => {
      await requireRestorer(tx, deps, call, orgId);
      const organization = await lockDeletableOrganization(tx, orgId, deps.now());
      if (organization === undefined) throw notFound("organization");
      if (organization.deleted_at === null) return organization;
      await recordAudit(tx, call, {
        orgId,
        action: "organization.restored",
        target: { type: "organization", id: orgId },
      });
      return unmarkOrganizationDeleted(tx, orgId);
    });
    return { organization: encodeOrganization(row) };
  };
}

/** The transaction is in the organization before and afterwards. @throws unauthenticated, not_found, forbidden */
async function requireRestorer(tx: Tx, { now }: ControlDeps, call: Call, orgId: string): Promise<void> {
  if (isOperator(call)) return;
  const caller = requireSession(call);
  await enterOrganization(tx, caller.orgId);
  await lockCaller(tx, call, now());
  await enterOrganization(tx, orgId);
  const membership = await lockMembership(tx, orgId, caller.userId);
  if (membership?.status !== "active") throw notFound("organization");
  if (!isAdmin(membership.role)) throw new AppError("forbidden", "an owner or admin of the organization is needed");
}
