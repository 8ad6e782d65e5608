import { notFound } from "@tidemark/errors";
import { readPage } from "@tidemark/requests";
import { findOrganization } from "../store/find-organization.ts";
import { listInvitationRows } from "../store/list-invitations.ts";
import { requirePeopleManager, visibleOrganization } from "./caller.ts";
import type { ControlDeps, ControlHandlers } from "./deps.ts";
import { encodeInvitation } from "./encode-invitation.ts";

const limitMax = 200;

/** @throws not_found, forbidden */
export function listInvitations({ db, now }: ControlDeps): ControlHandlers["listInvitations"] {
  return async (request, call) => {
    const orgId = visibleOrganization(call, request.orgId);
    const rows = await db.withTenant(orgId, async (tx) => {
      if ((await findOrganization(tx, orgId)) === undefined) throw notFound("organization");
      requirePeopleManager(call);
      return listInvitationRows(tx, orgId, readPage(request.page, limitMax));
    });
    return { invitations: rows.map((row) => encodeInvitation(row, now())) };
  };
}
