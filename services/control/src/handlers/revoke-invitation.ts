import { notFound } from "@tidemark/errors";
import { pathId } from "@tidemark/requests";
import { requireRevocable } from "../domain/invitations.ts";
import { lockInvitation } from "../store/lock-invitation.ts";
import { revokeInvitationRow } from "../store/revoke-invitation.ts";
import { requirePeopleManager, visibleOrganization } from "./caller.ts";
import type { ControlDeps, ControlHandlers } from "./deps.ts";
import { encodeInvitation } from "./encode-invitation.ts";

/** @throws not_found, forbidden, conflict unless pending */
export function revokeInvitation(deps: ControlDeps): ControlHandlers["revokeInvitation"] {
  return async (request, call) => {
    const orgId = visibleOrganization(call, request.orgId);
    const id = pathId(request.invitationId, "invitation");
    requirePeopleManager(call);
    const now = deps.now();
    const revoked = await deps.db.withTenant(orgId, async (tx) => {
      const invitation = await lockInvitation(tx, orgId, id);
      if (invitation === undefined) throw notFound("invitation");
      requireRevocable({ status: invitation.status, expiresAt: new Date(invitation.expires_at) }, now);
      return revokeInvitationRow(tx, orgId, id, now);
    });
    return { invitation: encodeInvitation(revoked, now) };
  };
}
