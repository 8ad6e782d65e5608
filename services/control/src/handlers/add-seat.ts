import { notFound } from "@tidemark/errors";
import { throwFault } from "@tidemark/requests";
import { requirePaid } from "../domain/billing.ts";
import { readEmail } from "../domain/emails.ts";
import { readInvitedRole } from "../domain/roles.ts";
import { requireTeam } from "../domain/seats.ts";
import { findMembership } from "../store/find-membership.ts";
import { findOrganization } from "../store/find-organization.ts";
import { insertMembership } from "../store/insert-membership.ts";
import { lockOrganization } from "../store/lock-organization.ts";
import { upsertUser } from "../store/upsert-user.ts";
import { requirePeopleManager, visibleOrganization } from "./caller.ts";
import type { ControlDeps, ControlHandlers } from "./deps.ts";
import { encodeSeat } from "./encode-seat.ts";
import { requireSeats } from "./reserve-seat.ts";

/**
 * Reserves a seat for an address. Whoever has one keeps it as it is.
 * @throws not_found, forbidden, bad_request, payment_required, personal_workspace_invite_forbidden, invite_seat_limit_reached
 */
export function addSeat(deps: ControlDeps): ControlHandlers["addSeat"] {
  return async (request, call) => {
    const orgId = visibleOrganization(call, request.orgId);
    return deps.db.withTenant(orgId, async (tx) => {
      const found = await findOrganization(tx, orgId);
      if (found === undefined) throw notFound("organization");
      requirePeopleManager(call);
      throwFault(request.bodyFault);
      const email = readEmail(request.email);
      const role = readInvitedRole(request.role);
      requirePaid(found.billing_state, "add people");
      requireTeam(found);
      const now = deps.now();
      const user = await upsertUser(tx, { id: deps.newId(), email, displayName: "", avatarUrl: "", now });
      // After the person, as whoever signs in locks the two; the other way round they would wait in a circle.
      const organization = await lockOrganization(tx, orgId);
      if (organization === undefined) throw notFound("organization");
      const seat = { orgId, id: deps.newId(), userId: user.id, role, status: "invited", now } as const;
      const made = await insertMembership(tx, seat);
      // Counted with the new one in it; an invitation of the same person counts once.
      if (made !== undefined) await requireSeats(tx, deps, organization);
      const membership = made ?? (await findMembership(tx, orgId, user.id));
      const { display_name, avatar_url } = user;
      return { seat: encodeSeat({ ...membership!, email, display_name, avatar_url }) };
    });
  };
}
