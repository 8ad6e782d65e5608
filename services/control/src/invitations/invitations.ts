import { notFound } from "@tidemark/errors";
import { pathId, readPage, throwFault } from "@tidemark/requests";
import { INVITATIONS_PAGE_ROWS } from "@tidemark/limits";
import { recordAudit } from "../audit/audit-events.ts";
import type { ControlDeps, ControlHandlers } from "../deps.ts";
import { mailUnavailable } from "../mail/mail.ts";
import { readEmail, readInvitedRole, requirePaid } from "../organizations/people.rules.ts";
import { callingUser, requirePeopleManager, visibleOrganization } from "../organizations/users.ts";
import { lockOrganization, requireOrganization } from "../organizations/organizations.sql.ts";
import { lockPeopleManager } from "../projection/lock-caller.ts";
import { invitationEnd, requireResendable, requireRevocable } from "./invitations.rules.ts";
import { listInvitationRows, lockInvitation, renewInvitation, revokeInvitationRow } from "./invitations.sql.ts";
import { encodeInvitation, invite, issueInviteToken, sendInvitation } from "./invite.ts";

/**
 * Invites an address and sends the message after the commit.
 * @throws not_found, forbidden, bad_request, payment_required, email_delivery_unavailable, and the errors of inviting (invite.ts)
 */
export function createInvitation(deps: ControlDeps): ControlHandlers["createInvitation"] {
  return async (request, call) => {
    const orgId = visibleOrganization(call, request.orgId);
    const made = await deps.db.withTenant(orgId, async (tx) => {
      const organization = await lockOrganization(tx, orgId);
      if (organization === undefined) throw notFound("organization");
      await lockPeopleManager(tx, call, deps.now());
      throwFault(request.bodyFault);
      const email = readEmail(request.email);
      const role = readInvitedRole(request.role);
      if (!deps.mail.available) throw mailUnavailable();
      requirePaid(organization.billing_state, "invite people");
      return {
        organization,
        ...(await invite(tx, deps, call, organization, { email, role, invitedByUserId: callingUser(call) })),
      };
    });
    const { organization, invitation, token } = made;
    return { sent: await sendInvitation(deps, invitation, { organization, token, baseUrl: request.baseUrl }) };
  };
}

/** Lists an organization's invitations, newest first. @throws not_found, forbidden */
export function listInvitations({ db, now }: ControlDeps): ControlHandlers["listInvitations"] {
  return async (request, call) => {
    const orgId = visibleOrganization(call, request.orgId);
    const rows = await db.withTenant(orgId, async (tx) => {
      await requireOrganization(tx, orgId);
      requirePeopleManager(call);
      return listInvitationRows(tx, orgId, readPage(request.page, INVITATIONS_PAGE_ROWS));
    });
    return { invitations: rows.map((row) => encodeInvitation(row, now())) };
  };
}

/**
 * Sends an invitation under a new token; the old one no longer works.
 * @throws not_found, forbidden, conflict unless pending, invite_expired, invite_resend_rate_limited, payment_required, email_delivery_unavailable
 */
export function resendInvitation(deps: ControlDeps): ControlHandlers["resendInvitation"] {
  return async (request, call) => {
    const orgId = visibleOrganization(call, request.orgId);
    const id = pathId(request.invitationId, "invitation");
    const token = issueInviteToken(deps);
    const { organization, renewed } = await deps.db.withTenant(orgId, async (tx) => {
      const found = await lockOrganization(tx, orgId);
      await lockPeopleManager(tx, call, deps.now());
      const invitation = await lockInvitation(tx, orgId, id);
      if (found === undefined || invitation === undefined) throw notFound("invitation");
      if (!deps.mail.available) throw mailUnavailable();
      const now = deps.now();
      requireResendable(
        {
          status: invitation.status,
          expiresAt: new Date(invitation.expires_at),
          lastSentAt: new Date(invitation.last_sent_at),
          sendingFailed: invitation.delivery_status === "failed",
        },
        now,
      );
      requirePaid(found.billing_state, "invite people");
      const values = { orgId, id, credentialId: token.id, hash: token.hash, now, expiresAt: invitationEnd(now) };
      const renewed = await renewInvitation(tx, values);
      await recordAudit(tx, call, { orgId, action: "invitation.resent", target: { type: "invitation", id } });
      return { organization: found, renewed };
    });
    const message = { organization, token: token.text, baseUrl: request.baseUrl };
    return { sent: await sendInvitation(deps, renewed, message) };
  };
}

/** Revokes an invitation. @throws not_found, forbidden, conflict unless pending */
export function revokeInvitation(deps: ControlDeps): ControlHandlers["revokeInvitation"] {
  return async (request, call) => {
    const orgId = visibleOrganization(call, request.orgId);
    const id = pathId(request.invitationId, "invitation");
    const now = deps.now();
    const revoked = await deps.db.withTenant(orgId, async (tx) => {
      await lockOrganization(tx, orgId);
      await lockPeopleManager(tx, call, now);
      const invitation = await lockInvitation(tx, orgId, id);
      if (invitation === undefined) throw notFound("invitation");
      requireRevocable({ status: invitation.status, expiresAt: new Date(invitation.expires_at) }, now);
      await recordAudit(tx, call, { orgId, action: "invitation.revoked", target: { type: "invitation", id } });
      return revokeInvitationRow(tx, orgId, id, now);
    });
    return { invitation: encodeInvitation(revoked, now) };
  };
}
