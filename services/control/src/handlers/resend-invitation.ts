import { notFound } from "@tidemark/errors";
import { pathId } from "@tidemark/requests";
import { requirePaid } from "../domain/billing.ts";
import { invitationEnd, requireResendable } from "../domain/invitations.ts";
import { mailUnavailable } from "../mail/no-mail.ts";
import { findOrganization } from "../store/find-organization.ts";
import { lockInvitation } from "../store/lock-invitation.ts";
import { renewInvitation } from "../store/renew-invitation.ts";
import { requirePeopleManager, visibleOrganization } from "./caller.ts";
import type { ControlDeps, ControlHandlers } from "./deps.ts";
import { issueInviteToken, sendInvitation } from "./send-invitation.ts";

/**
 * Sends an invitation under a new token; the old one is worth nothing afterwards.
 * @throws not_found, forbidden, conflict unless pending, invite_expired, invite_resend_rate_limited, payment_required, email_delivery_unavailable
 */
export function resendInvitation(deps: ControlDeps): ControlHandlers["resendInvitation"] {
  return async (request, call) => {
    const orgId = visibleOrganization(call, request.orgId);
    const id = pathId(request.invitationId, "invitation");
    requirePeopleManager(call);
    const token = issueInviteToken(deps);
    const { organization, renewed } = await deps.db.withTenant(orgId, async (tx) => {
      const found = await findOrganization(tx, orgId);
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
      return { organization: found, renewed: await renewInvitation(tx, values) };
    });
    const message = { organization, token: token.text, baseUrl: request.baseUrl };
    return { sent: await sendInvitation(deps, renewed, message) };
  };
}
