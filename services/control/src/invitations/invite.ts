import type { MessageInitShape } from "@bufbuild/protobuf";
import { issueCredential } from "@tidemark/credentials";
import { AppError, badRequest } from "@tidemark/errors";
import { ACCOUNT_LIMITS } from "@tidemark/limits";
import type { Tx } from "@tidemark/pg";
import type { InvitationSchema, SentInvitationSchema } from "@tidemark/proto/control/v1/control";
import type { Call } from "@tidemark/rpc";
import { recordAudit } from "../audit/audit-events.ts";
import { webAddress, type ControlDeps } from "../deps.ts";
import { requireTeam, type Role } from "../organizations/people.rules.ts";
import { findMembership } from "../organizations/memberships.sql.ts";
import type { OrganizationRow } from "../organizations/organizations.sql.ts";
import { findUserByEmail } from "../organizations/users.sql.ts";
import { requireSeats } from "../seats/seats.ts";
import { invitationEnd, statusAt } from "./invitations.rules.ts";
import {
  expireInvitation,
  hasRoomForInvitation,
  insertInvitation,
  setDeliveryStatus,
  type InvitationRow,
} from "./invitations.sql.ts";

/**
 * Creates an invitation in the transaction, which has locked the organization. Send the message after the commit.
 * @throws personal_workspace_invite_forbidden, invite_already_member, invite_already_pending, invite_seat_limit_reached; bad_request for too many
 */
export async function invite(
  tx: Tx,
  deps: ControlDeps,
  call: Call,
  organization: OrganizationRow,
  wanted: { email: string; role: Role; invitedByUserId: string | undefined },
): Promise<{ invitation: InvitationRow; token: string }> {
  const { org_id: orgId } = organization;
  const { email, role, invitedByUserId } = wanted;
  requireTeam(organization);
  const now = deps.now();
  const user = await findUserByEmail(tx, email);
  const member = user === undefined ? undefined : await findMembership(tx, orgId, user.id);
  if (member?.status === "active") {
    throw new AppError("invite_already_member", "this person is a member of the organization");
  }
  await expireInvitation(tx, orgId, email, now);
  // Where seats are limited, that also limits invitations.
  const max = ACCOUNT_LIMITS.pendingInvitationsMax;
  if (!deps.settings.seatLimits && !(await hasRoomForInvitation(tx, orgId, max)))
    throw badRequest(`an organization has at most ${max} pending invitations`);
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
  // Counts the new invitation too; a reserved seat of the same person counts once.
  await requireSeats(tx, deps, organization);
  const target = { type: "invitation", id: invitation.id };
  await recordAudit(tx, call, { orgId, action: "member.invited", target });
  return { invitation, token: token.text };
}

/** Returns a new token for an invitation: its text goes into the message, its id and hash are stored. */
export function issueInviteToken({ randomBytes }: ControlDeps): { text: string; id: string; hash: Uint8Array } {
  return issueCredential("invite", randomBytes);
}

/**
 * Sends the message of a committed invitation and records whether it was sent. A message that could not be sent is not
 * an error of the request: the invitation stays valid, and can be sent again immediately.
 */
export async function sendInvitation(
  deps: ControlDeps,
  invitation: InvitationRow,
  message: { organization: OrganizationRow; token: string; baseUrl: string },
): Promise<MessageInitShape<typeof SentInvitationSchema>> {
  const { org_id: orgId, id } = invitation;
  const record = (status: "sent" | "failed") =>
    deps.db.withTenant(orgId, (tx) => setDeliveryStatus(tx, orgId, id, status));
  let previewLink: string | undefined;
  try {
    ({ previewLink } = await deps.mail.sendInvitation({
      to: invitation.email,
      organizationName: message.organization.name,
      role: invitation.role,
      // After a `#`, so that the token does not reach any server's access log.
      link: `${webAddress(deps, message.baseUrl)}/invite#token=${message.token}`,
      expiresAt: invitation.expires_at,
      invitationId: id,
      orgId,
    }));
  } catch {
    return {
      invitation: encodeInvitation(await record("failed"), deps.now()),
      deliveryError: "the message could not be sent",
    };
  }
  return { invitation: encodeInvitation(await record("sent"), deps.now()), previewLink: previewLink ?? "" };
}

/** Returns an invitation as a message, with its status at `now`, whether or not upkeep has marked it as expired. */
export function encodeInvitation(row: InvitationRow, now: Date): MessageInitShape<typeof InvitationSchema> {
  return {
    id: row.id,
    orgId: row.org_id,
    email: row.email,
    role: row.role,
    status: statusAt({ status: row.status, expiresAt: new Date(row.expires_at) }, now),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastSentAt: row.last_sent_at,
    acceptedAt: row.accepted_at ?? "",
    revokedAt: row.revoked_at ?? "",
    deliveryStatus: row.delivery_status,
  };
}
