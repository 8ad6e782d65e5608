import { equalHashes, parseCredential } from "@tidemark/credentials";
import { AppError, notFound } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import { requirePaid } from "../domain/billing.ts";
import { inviteExpired, statusAt } from "../domain/invitations.ts";
import { markInvitationAccepted } from "../store/accept-invitation.ts";
import { enterOrganization } from "../store/enter-organization.ts";
import { findInvitationByToken } from "../store/find-invitation-by-token.ts";
import { findMembership } from "../store/find-membership.ts";
import { insertMembership } from "../store/insert-membership.ts";
import { lockInvitation } from "../store/lock-invitation.ts";
import { lockOrganization } from "../store/lock-organization.ts";
import type { InvitationRow } from "../store/rows-invitations.ts";
import type { UserRow } from "../store/rows-users.ts";
import { updateMembership } from "../store/update-membership.ts";
import type { ControlDeps } from "./deps.ts";
import { requireSeats } from "./reserve-seat.ts";

/** The invitation that a token belongs to. @throws not_found */
export async function invitationOf(tx: Tx, token: string): Promise<{ orgId: string; id: string }> {
  const credential = parseCredential(token);
  const found = credential?.kind === "invite" ? await findInvitationByToken(tx, credential.id) : undefined;
  if (credential === undefined || found === undefined || !equalHashes(found.hash, credential.hash)) {
    throw notFound("invitation");
  }
  return { orgId: found.org_id, id: found.id };
}

/**
 * Makes the user an active member by an invitation to their address, and enters the organization.
 * Accepting again what they have accepted changes nothing.
 * @throws not_found, invite_email_mismatch, invite_expired, conflict, payment_required, invite_seat_limit_reached
 */
export async function joinByInvitation(
  tx: Tx,
  deps: ControlDeps,
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
    // The invitation holds a seat already; none more is wanted, but the limit may have sunk since.
    await requireSeats(tx, deps, organization);
    const joining = { orgId, id: deps.newId(), userId: user.id, role, status: "active", now: deps.now() } as const;
    await insertMembership(tx, joining);
  } else if (member.status === "invited") {
    await updateMembership(tx, { orgId, userId: user.id, role, status: "active" });
  }
  await markInvitationAccepted(tx, { orgId, id, userId: user.id, now: deps.now() });
  return { orgId };
}

function requireOpen(invitation: InvitationRow, now: Date): void {
  const status = statusAt({ status: invitation.status, expiresAt: new Date(invitation.expires_at) }, now);
  if (status === "expired") throw inviteExpired();
  if (status !== "pending") throw new AppError("conflict", `the invitation was ${status}`);
}
