import { notFound } from "@tidemark/errors";
import { emailHint } from "../domain/emails.ts";
import { statusAt } from "../domain/invitations.ts";
import { enterOrganization } from "../store/enter-organization.ts";
import { findInvitation } from "../store/find-invitation.ts";
import { findOrganization } from "../store/find-organization.ts";
import type { ControlDeps, ControlHandlers } from "./deps.ts";
import { invitationOf } from "./join-by-invitation.ts";

/** What whoever holds the token may know before signing in. @throws not_found */
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
