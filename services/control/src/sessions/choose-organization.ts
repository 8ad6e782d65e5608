import { AppError, notFound } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import type { PlanTier } from "@tidemark/limits";
import type { NewSessionSchema } from "@tidemark/proto/control/v1/control";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Call } from "@tidemark/rpc";
import { recordAudit } from "../audit/audit-events.ts";
import type { ControlDeps } from "../deps.ts";
import { joinByInvitation } from "../invitations/accept-invitation.ts";
import { personalName, slugOf, type AccountType } from "../organizations/people.rules.ts";
import {
  insertMembership,
  listMembershipsOfUser,
  takeInvitedSeat,
  type MembershipSummaryRow,
} from "../organizations/memberships.sql.ts";
import { enterOrganization } from "../organizations/organizations.sql.ts";
import { insertOrganizationWithOwner } from "../organizations/own-organization.ts";
import { upsertUser, type UserRow } from "../organizations/users.sql.ts";
import { announceChange } from "../projection/lock-caller.ts";
import { openSession } from "./open-session.ts";

/** The organization that a person who signs in asks for; empty texts for none. */
export type SignInRequest = {
  readonly orgName: string;
  readonly accountType: AccountType;
  readonly planTier: PlanTier;
  readonly seatEmails: readonly string[];
  readonly inviteOrgId: string;
  readonly inviteToken: string;
};

/**
 * Opens a session of a person into the first of: the organization of the invitation that they bring; the one whose seat they name; the one that they
 * name or were in last; the only one with a seat that waits for them; a new one.
 * @throws not_found when no seat waits in the named organization; conflict for a taken name; multiple_pending_invites; the errors of joining by
 * invitation (invitations/accept-invitation.ts)
 */
export async function enterAs(
  tx: Tx,
  deps: ControlDeps,
  call: Call,
  user: UserRow,
  request: SignInRequest,
): Promise<MessageInitShape<typeof NewSessionSchema>> {
  const orgId = await chooseOrganization(tx, deps, call, user, request);
  await enterOrganization(tx, orgId);
  const session = await openSession(tx, deps, { orgId, userId: user.id });
  await announceChange(tx, orgId);
  return session;
}

async function chooseOrganization(
  tx: Tx,
  deps: ControlDeps,
  call: Call,
  user: UserRow,
  request: SignInRequest,
): Promise<string> {
  if (request.inviteToken !== "") return (await joinByInvitation(tx, deps, call, user, request.inviteToken)).orgId;
  const memberships = await listMembershipsOfUser(tx, user.id);
  const invited = memberships.filter(({ status }) => status === "invited");
  if (request.inviteOrgId !== "") {
    const wanted = memberships.find((row) => row.org_id === request.inviteOrgId);
    if (wanted === undefined) throw notFound("invitation");
    return takeSeat(tx, call, user, wanted);
  }
  const active = memberships.filter(({ status }) => status === "active");
  const known = active.find(({ slug }) => request.orgName !== "" && slug === slugOf(request.orgName)) ?? active[0];
  if (known !== undefined) return known.org_id;
  if (invited.length > 1) {
    throw new AppError("multiple_pending_invites", "several organizations wait for this person; name one");
  }
  if (invited[0] !== undefined && request.orgName === "") return takeSeat(tx, call, user, invited[0]);
  return createOwn(tx, deps, call, user, request);
}

async function takeSeat(tx: Tx, call: Call, user: UserRow, seat: MembershipSummaryRow): Promise<string> {
  if (seat.status === "invited") {
    const { org_id: orgId } = seat;
    await enterOrganization(tx, orgId);
    const joined = await takeInvitedSeat(tx, orgId, user.id);
    // It was taken by another sign-in, or removed; then no session can be opened.
    if (joined === undefined) return orgId;
    const target = { type: "membership", id: joined.id };
    await recordAudit(tx, call, { orgId, action: "member.joined", target, userId: user.id });
  }
  return seat.org_id;
}

async function createOwn(
  tx: Tx,
  deps: ControlDeps,
  call: Call,
  user: UserRow,
  request: SignInRequest,
): Promise<string> {
  const derived = request.orgName === "";
  const { organization } = await insertOrganizationWithOwner(tx, deps, call, {
    name: derived ? personalName(user.email, user.display_name ?? "") : request.orgName,
    derived,
    accountType: request.accountType,
    planTier: request.planTier,
    userId: user.id,
  });
  const orgId = organization.org_id;
  // Always in the same order, so that two people who reserve seats for each other do not wait for each other forever.
  for (const email of request.seatEmails.toSorted()) {
    const now = deps.now();
    const guest = await upsertUser(tx, { id: deps.newId(), email, displayName: "", avatarUrl: "", now });
    const seat = { orgId, id: deps.newId(), userId: guest.id, role: "member", status: "invited", now } as const;
    const invited = await insertMembership(tx, seat);
    const target = { type: "membership", id: invited!.id };
    await recordAudit(tx, call, { orgId, action: "member.invited", target, userId: user.id });
  }
  return orgId;
}
