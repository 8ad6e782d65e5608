import { AppError } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import { invitationEnd } from "../domain/invitations.ts";
import type { Role } from "../domain/roles.ts";
import { requireTeam } from "../domain/seats.ts";
import { expireInvitation } from "../store/expire-invitation.ts";
import { findMembership } from "../store/find-membership.ts";
import { findUserByEmail } from "../store/find-user-by-email.ts";
import { insertInvitation } from "../store/insert-invitation.ts";
import type { InvitationRow } from "../store/rows-invitations.ts";
import type { OrganizationRow } from "../store/rows-organizations.ts";
import type { ControlDeps } from "./deps.ts";
import { requireSeats } from "./reserve-seat.ts";
import { issueInviteToken } from "./send-invitation.ts";

/**
 * Makes an invitation in the transaction, which has locked the organization. The message is not sent yet.
 * @throws personal_workspace_invite_forbidden, invite_already_member, invite_already_pending, invite_seat_limit_reached
 */
export async function invite(
  tx: Tx,
  deps: ControlDeps,
  organization: OrganizationRow,
  wish: { email: string; role: Role; invitedByUserId: string | undefined },
): Promise<{ invitation: InvitationRow; token: string }> {
  const { org_id: orgId } = organization;
  const { email, role, invitedByUserId } = wish;
  requireTeam(organization);
  const now = deps.now();
  const user = await findUserByEmail(tx, email);
  const member = user === undefined ? undefined : await findMembership(tx, orgId, user.id);
  if (member?.status === "active") {
    throw new AppError("invite_already_member", "this person is a member of the organization");
  }
  await expireInvitation(tx, orgId, email, now);
  const token = issueInviteToken(deps);
  const invitation = await insertInvitation(tx, {
    orgId,
    id: deps.newId(),
    email,
    role,
    credentialId: token.id,
    hash: token.hash,
    invitedByUserId,
    now,
    expiresAt: invitationEnd(now),
  });
  if (invitation === undefined) {
    throw new AppError("invite_already_pending", "an invitation for this person is pending");
  }
  // Counted with the new one in it; a reserved seat of the same person counts once.
  await requireSeats(tx, deps, organization);
  return { invitation, token: token.text };
}
