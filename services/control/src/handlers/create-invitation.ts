import { notFound } from "@tidemark/errors";
import { throwFault } from "@tidemark/requests";
import { requirePaid } from "../domain/billing.ts";
import { readEmail } from "../domain/emails.ts";
import { readInvitedRole } from "../domain/roles.ts";
import { mailUnavailable } from "../mail/no-mail.ts";
import { lockOrganization } from "../store/lock-organization.ts";
import { callingUser, requirePeopleManager, visibleOrganization } from "./caller.ts";
import type { ControlDeps, ControlHandlers } from "./deps.ts";
import { invite } from "./invite.ts";
import { sendInvitation } from "./send-invitation.ts";

/** @throws not_found, forbidden, bad_request, payment_required, email_delivery_unavailable, and what inviting throws */
export function createInvitation(deps: ControlDeps): ControlHandlers["createInvitation"] {
  return async (request, call) => {
    const orgId = visibleOrganization(call, request.orgId);
    const made = await deps.db.withTenant(orgId, async (tx) => {
      const organization = await lockOrganization(tx, orgId);
      if (organization === undefined) throw notFound("organization");
      requirePeopleManager(call);
      throwFault(request.bodyFault);
      const email = readEmail(request.email);
      const role = readInvitedRole(request.role);
      if (!deps.mail.available) throw mailUnavailable();
      requirePaid(organization.billing_state, "invite people");
      return {
        organization,
        ...(await invite(tx, deps, organization, { email, role, invitedByUserId: callingUser(call) })),
      };
    });
    const { organization, invitation, token } = made;
    return { sent: await sendInvitation(deps, invitation, { organization, token, baseUrl: request.baseUrl }) };
  };
}
