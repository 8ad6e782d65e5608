import { AppError, badRequest } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import type { CreateOwnOrganizationRequest } from "@tidemark/proto/control/v1/control";
import { readEmail } from "../domain/emails.ts";
import { readAccountType, readPlanTier } from "../domain/plans.ts";
import { readInvitedRole, type Role } from "../domain/roles.ts";
import { requireTeam } from "../domain/seats.ts";
import { mailUnavailable } from "../mail/no-mail.ts";
import { listMembershipsOfUser } from "../store/list-memberships-of-user.ts";
import { lockUser } from "../store/lock-user.ts";
import { requireSession } from "./caller.ts";
import { announceChange } from "./commit-projection-change.ts";
import type { ControlDeps, ControlHandlers } from "./deps.ts";
import { encodeMembership, encodeMembershipSummaries, encodeOrganization } from "./encode-organization.ts";
import { foundOrganization, requireFreePlan } from "./found-organization.ts";
import { invite } from "./invite.ts";
import { sendInvitation } from "./send-invitation.ts";
import { tradeSession } from "./trade-session.ts";

/**
 * Makes an organization that the caller owns, invites whom they name, and brings them there unless
 * they wish to stay. All of it or nothing; messages go out when it is committed.
 * @throws unauthenticated; bad_request; conflict for a taken name or a second personal organization;
 * billing_unavailable for a paid plan; email_delivery_unavailable; what inviting throws
 */
export function createOwnOrganization(deps: ControlDeps): ControlHandlers["createOwnOrganization"] {
  return async (request, call) => {
    const caller = requireSession(call);
    const { wishes, ...organizationWish } = readWish(deps, request);
    const made = await deps.db.transaction(async (tx) => {
      await requireOnlyPersonal(tx, organizationWish.accountType, caller.userId);
      const founded = await foundOrganization(tx, deps, { ...organizationWish, derived: false, userId: caller.userId });
      const invited = [];
      for (const wish of wishes) {
        invited.push(await invite(tx, deps, founded.organization, { ...wish, invitedByUserId: caller.userId }));
      }
      const { org_id: orgId } = founded.organization;
      const session = request.switchOnCreate ? await tradeSession(tx, deps, caller, orgId) : undefined;
      if (session === undefined) await announceChange(tx, orgId);
      return { ...founded, invited, session, memberships: await listMembershipsOfUser(tx, caller.userId) };
    });
    deps.nudge();
    const { organization, membership, session } = made;
    const { baseUrl } = request;
    const invitations = await Promise.all(
      made.invited.map(({ invitation, token }) => sendInvitation(deps, invitation, { organization, token, baseUrl })),
    );
    return {
      organization: encodeOrganization(organization),
      membership: encodeMembership(membership),
      memberships: encodeMembershipSummaries(
        made.memberships,
        session === undefined ? caller.orgId : organization.org_id,
      ),
      invitations,
      ...(session === undefined ? {} : { created: session }),
    };
  };
}

function readWish({ mail }: ControlDeps, request: CreateOwnOrganizationRequest) {
  if (request.name === "") throw badRequest("name is required", "name");
  const accountType =
    request.accountType === "" ? "business" : readAccountType(request.accountType, ["business", "personal"]);
  const planTier = readPlanTier(request.planTier);
  requireFreePlan(planTier);
  const wishes = new Map<string, Role>();
  for (const { email, role } of request.initialInvitations) {
    const address = readEmail(email, "initial_invitations");
    if (!wishes.has(address)) wishes.set(address, readInvitedRole(role));
  }
  if (wishes.size > 0) requireTeam({ account_type: accountType });
  if (wishes.size > 0 && !mail.available) throw mailUnavailable();
  return { name: request.name, accountType, planTier, wishes: [...wishes].map(([email, role]) => ({ email, role })) };
}

/** A person has one personal organization. Their row is locked, so that two requests do not both make it. */
async function requireOnlyPersonal(tx: Tx, accountType: string, userId: string): Promise<void> {
  if (accountType !== "personal") return;
  await lockUser(tx, userId);
  const memberships = await listMembershipsOfUser(tx, userId);
  if (memberships.some(({ account_type, role }) => account_type === "personal" && role === "owner")) {
    throw new AppError("conflict", "this person has a personal organization already");
  }
}
