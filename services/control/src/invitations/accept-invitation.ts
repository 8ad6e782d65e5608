import { equalHashes, parseCredential } from "@tidemark/credentials";
import { AppError, notFound } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import type { Call } from "@tidemark/rpc";
import { recordAudit } from "../audit/audit-events.ts";
import type { ControlDeps, ControlHandlers } from "../deps.ts";
import { emailHint, requirePaid } from "../organizations/people.rules.ts";
import { requireSession } from "../organizations/users.ts";
import { findMembership, insertMembership, updateMembership } from "../organizations/memberships.sql.ts";
import { enterOrganization, findOrganization, lockOrganization } from "../organizations/organizations.sql.ts";
import { findUser, type UserRow } from "../organizations/users.sql.ts";
import { requireSeats } from "../seats/seats.ts";
import { tradeSession } from "../sessions/open-session.ts";
import { inviteExpired, statusAt } from "./invitations.rules.ts";
import {
  findInvitation,
  findInvitationByToken,
  lockInvitation,
  markInvitationAccepted,
  type InvitationRow,
} from "./invitations.sql.ts";

/** Returns the parts of an invitation that the holder of a token may see before signing in. @throws not_found */
export function previewInvitation({ db, now }: ControlDeps): ControlHandlers["previewInvitation"] {
  return async ({ token }) => {
    return db.transaction(async (tx) => {
      const { orgId, id } = await invitationOf(tx, token);
      await enterOrganization(tx, orgId);
      const organization = await findOrganization(tx, orgId);
      const invitation = await findInvitation(tx, orgId, id);
      if (organization === undefined || invitation === undefined) throw notFound("invitation");
      return {
        orgName: organization.name,
        emailHint: emailHint(invitation.email),
        role: invitation.role,
        status: statusAt({ status: invitation.status, expiresAt: new Date(invitation.expires_at) }, now()),
        expiresAt: invitation.expires_at,
      };
    });
  };
}

/** Makes the caller a member by an invitation and moves their session there. @throws unauthenticated, and the errors of joining by invitation */
export function acceptInvitation(deps: ControlDeps): ControlHandlers["acceptInvitation"] {
  return async ({ token }, call) => {
    const caller = requireSession(call);
    const created = await deps.db.transaction(async (tx) => {
      const user = await findUser(tx, caller.userId);
      if (user === undefined) throw new AppError("unauthenticated", "the session has ended");
      const { orgId } = await joinByInvitation(tx, deps, call, user, token);
      return tradeSession(tx, deps, caller, orgId);
    });
    deps.wakeRelay();
    return { created };
  };
}

/** Returns the invitation that a token belongs to. @throws not_found */
export async function invitationOf(tx: Tx, token: string): Promise<{ orgId: string; id: string }> {
  const credential = parseCredential(token);
  const found = credential?.kind === "invite" ? await findInvitationByToken(tx, credential.id) : undefined;
  if (credential === undefined || found === undefined || !equalHashes(found.hash, credential.hash)) {
    throw notFound("invitation");
  }
  return { orgId: found.org_id, id: found.id };
}

/**
 * Makes the user an active member by an invitation of their address, and enters the organization. Accepting an
 * invitation again changes nothing.
 * @throws not_found, invite_email_mismatch, invite_expired, conflict, payment_required, invite_seat_limit_reached
 */
export async function joinByInvitation(
  tx: Tx,
  deps: ControlDeps,
  call: Call,
  user: UserRow,
  token: string,
): Promise<{ orgId: string }> {
  const { orgId, id } = await invitationOf(tx, token);
  await enterOrganization(tx, orgId);
  const organization = await lockOrganization(tx, orgId);
  const invitation = await lockInvitation(tx, orgId, id);
  if (organization === undefined || invitation === undefined) throw notFound("invitation");
  if (invitation.email !== user.email) {
    throw new AppError("invite_email_mismatch", "the invitation is for another e-mail address");
  }
  const member = await findMembership(tx, orgId, user.id);
  if (invitation.status === "accepted" && member?.status === "active" && invitation.accepted_by_user_id === user.id) {
    return { orgId };
  }
  requireOpen(invitation, deps.now());
  requirePaid(organization.billing_state, "accept an invitation");
  const { role } = invitation;
  if (member === undefined) {
    // The invitation holds a seat already, but the limit may have been lowered since.
    await requireSeats(tx, deps, organization);
    const joining = { orgId, id: deps.newId(), userId: user.id, role, status: "active", now: deps.now() } as const;
    await insertMembership(tx, joining);
    await recordJoined(tx, call, orgId, joining.id, user.id);
  } else if (member.status === "invited") {
    await updateMembership(tx, { orgId, userId: user.id, role, status: "active" });
    await recordJoined(tx, call, orgId, member.id, user.id);
  }
  await markInvitationAccepted(tx, { orgId, id, userId: user.id, now: deps.now() });
  return { orgId };
}

function recordJoined(tx: Tx, call: Call, orgId: string, id: string, userId: string): Promise<void> {
  const target = { type: "membership", id };
  return recordAudit(tx, call, { orgId, action: "member.joined", target, userId });
}

/** Checks that an invitation can be accepted. @throws invite_expired, conflict */
export function requireOpen(invitation: InvitationRow, now: Date): void {
  const status = statusAt({ status: invitation.status, expiresAt: new Date(invitation.expires_at) }, now);
  if (status === "expired") throw inviteExpired();
  if (status !== "pending") throw new AppError("conflict", `the invitation was ${status}`);
}
