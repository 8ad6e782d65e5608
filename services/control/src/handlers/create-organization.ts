import { AppError, badRequest, notFound } from "@tidemark/errors";
import { firstBillingState } from "../domain/billing.ts";
import { readPlanTier } from "../domain/plans.ts";
import { seatLimit } from "../domain/seats.ts";
import { readSlug, slugOf } from "../domain/slugs.ts";
import { findUser } from "../store/find-user.ts";
import { insertMembership } from "../store/insert-membership.ts";
import { insertOrganization } from "../store/insert-organization.ts";
import { requireOperator } from "./caller.ts";
import { commitProjectionChange } from "./commit-projection-change.ts";
import type { ControlDeps, ControlHandlers } from "./deps.ts";
import { encodeOrganization } from "./encode-organization.ts";

/** @throws unauthenticated; bad_request; not_found for an unknown owner; conflict for a taken short name */
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
      return made;
    });
    return { organization: encodeOrganization(organization) };
  };
}
