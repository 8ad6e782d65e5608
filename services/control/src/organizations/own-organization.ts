import { AppError, badRequest } from "@tidemark/errors";
import { ACCOUNT_LIMITS, type PlanTier } from "@tidemark/limits";
import type { Tx } from "@tidemark/pg";
import type { CreateOwnOrganizationRequest } from "@tidemark/proto/control/v1/control";
import type { Call } from "@tidemark/rpc";
import { recordAudit } from "../audit/audit-events.ts";
import type { ControlDeps, ControlHandlers } from "../deps.ts";
import { invite, sendInvitation } from "../invitations/invite.ts";
import { mailUnavailable } from "../mail/mail.ts";
import { announceChange, lockCaller } from "../projection/lock-caller.ts";
import { tradeSession } from "../sessions/open-session.ts";
import {
  firstBillingState,
  readAccountType,
  readEmail,
  readInvitedRole,
  readPlanTier,
  requireFreePlan,
  requireTeam,
  seatLimit,
  slugOf,
  withSuffix,
  type AccountType,
  type Role,
} from "./people.rules.ts";
import { requireSession } from "./users.ts";
import { encodeMembership, encodeMembershipSummaries, encodeOrganization } from "./encode-organization.ts";
import { insertMembership, listMembershipsOfUser, type MembershipRow } from "./memberships.sql.ts";
import { enterOrganization, insertOrganization, type OrganizationRow } from "./organizations.sql.ts";
import { lockUser } from "./users.sql.ts";

/** How many characters of its id follow a short name that is taken. */
const suffixLength = 6;

/**
 * Creates an organization with its owner and enters it. A name that the owner chose must be free. A name that was
 * derived for them (`derived`) gets a suffix when its short name is taken.
 * @throws conflict
 */
export async function insertOrganizationWithOwner(
  tx: Tx,
  { newId, now, settings }: ControlDeps,
  call: Call,
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
  const target = { type: "organization", id: orgId };
  await recordAudit(tx, call, { orgId, action: "organization.created", target, userId: wish.userId });
  return { organization, membership: membership! };
}

/**
 * Creates an organization that the caller owns, invites the people they name, and on `switch_on_create` moves the
 * caller's session there, in one transaction. The messages are sent after the commit.
 * @throws unauthenticated; bad_request; conflict for a taken name or a second personal organization;
 * billing_unavailable for a paid plan; email_delivery_unavailable; the errors of inviting (invitations/invite.ts)
 */
export function createOwnOrganization(deps: ControlDeps): ControlHandlers["createOwnOrganization"] {
  return async (request, call) => {
    const caller = requireSession(call);
    const { wishes, ...organizationFields } = readWish(deps, request);
    const made = await deps.db.transaction(async (tx) => {
      await requireFewOrganizations(tx, organizationFields.accountType, caller.userId);
      await enterOrganization(tx, caller.orgId);
      await lockCaller(tx, call, deps.now());
      const created = await insertOrganizationWithOwner(tx, deps, call, {
        ...organizationFields,
        derived: false,
        userId: caller.userId,
      });
      const invited = [];
      for (const wish of wishes) {
        invited.push(await invite(tx, deps, call, created.organization, { ...wish, invitedByUserId: caller.userId }));
      }
      const { org_id: orgId } = created.organization;
      const session = request.switchOnCreate ? await tradeSession(tx, deps, caller, orgId) : undefined;
      if (session === undefined) await announceChange(tx, orgId);
      return { ...created, invited, session, memberships: await listMembershipsOfUser(tx, caller.userId) };
    });
    deps.wakeRelay();
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
  // The first role of an address counts.
  const wishes = new Map<string, Role>();
  for (const { email, role } of request.initialInvitations) {
    const address = readEmail(email, "initial_invitations");
    if (!wishes.has(address)) wishes.set(address, readInvitedRole(role));
  }
  if (wishes.size > 0) requireTeam({ account_type: accountType });
  if (wishes.size > 0 && !mail.available) throw mailUnavailable();
  return { name: request.name, accountType, planTier, wishes: [...wishes].map(([email, role]) => ({ email, role })) };
}

/**
 * Checks that the person is in fewer organizations than the maximum, and for a personal one that they have none yet. Locks their row, so that two
 * requests do not both create one.
 */
async function requireFewOrganizations(tx: Tx, accountType: string, userId: string): Promise<void> {
  await lockUser(tx, userId);
  const memberships = await listMembershipsOfUser(tx, userId);
  if (memberships.length >= ACCOUNT_LIMITS.organizationsMax) {
    throw badRequest(`a person is in at most ${ACCOUNT_LIMITS.organizationsMax} organizations`);
  }
  if (accountType !== "personal") return;
  if (memberships.some(({ account_type, role }) => account_type === "personal" && role === "owner")) {
    throw new AppError("conflict", "this person has a personal organization already");
  }
}
