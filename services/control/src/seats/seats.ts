import type { MessageInitShape } from "@bufbuild/protobuf";
import { AppError, notFound } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import type { SeatSchema } from "@tidemark/proto/control/v1/control";
import { pathId, readPage, throwFault } from "@tidemark/requests";
import type { Call } from "@tidemark/rpc";
import { PAGE_ROWS } from "@tidemark/limits";
import { recordAudit } from "../audit/audit-events.ts";
import type { ControlDeps, ControlHandlers } from "../deps.ts";
import {
  readEmail,
  readInvitedRole,
  readRole,
  requirePaid,
  requireTeam,
  seatLimitReached,
  type Role,
} from "../organizations/people.rules.ts";
import { isOperator, requirePeopleManager, visibleOrganization } from "../organizations/users.ts";
import { encodeMembership } from "../organizations/encode-organization.ts";
import {
  findMembership,
  insertMembership,
  updateMembership,
  exceedsSeats,
  findSeatRow,
  hasOtherOwner,
  listSeatRows,
  removeSeatRow,
  type SeatRow,
} from "../organizations/memberships.sql.ts";
import { lockOrganization, requireOrganization, type OrganizationRow } from "../organizations/organizations.sql.ts";
import { commitProjectionChange, lockPeopleManager } from "../projection/lock-caller.ts";
import { upsertUser } from "../organizations/users.sql.ts";

/**
 * Reserves a seat for an address. A person who has one keeps it unchanged.
 * @throws not_found, forbidden, unauthenticated, bad_request, payment_required, personal_workspace_invite_forbidden, invite_seat_limit_reached
 */
export function addSeat(deps: ControlDeps): ControlHandlers["addSeat"] {
  return async (request, call) => {
    const orgId = visibleOrganization(call, request.orgId);
    return deps.db.withTenant(orgId, async (tx) => {
      const found = await requireOrganization(tx, orgId);
      requirePeopleManager(call);
      throwFault(request.bodyFault);
      const email = readEmail(request.email);
      const role = readInvitedRole(request.role);
      requirePaid(found.billing_state, "add people");
      requireTeam(found);
      const now = deps.now();
      const user = await upsertUser(tx, { id: deps.newId(), email, displayName: "", avatarUrl: "", now });
      // After the person, in the order in which a sign-in locks the two, so that they never wait for each other forever.
      const organization = await lockOrganization(tx, orgId);
      if (organization === undefined) throw notFound("organization");
      await lockPeopleManager(tx, call, now);
      const seat = { orgId, id: deps.newId(), userId: user.id, role, status: "invited", now } as const;
      const made = await insertMembership(tx, seat);
      // Counts the new seat too; an invitation of the same person counts once.
      if (made !== undefined) {
        await requireSeats(tx, deps, organization);
        const target = { type: "membership", id: made.id };
        await recordAudit(tx, call, { orgId, action: "member.invited", target });
      }
      const membership = made ?? (await findMembership(tx, orgId, user.id));
      const { display_name, avatar_url } = user;
      return { seat: encodeSeat({ ...membership!, email, display_name, avatar_url }) };
    });
  };
}

/** Lists an organization's seats, oldest first. @throws not_found, forbidden */
export function listSeats({ db }: ControlDeps): ControlHandlers["listSeats"] {
  return async (request, call) => {
    const orgId = visibleOrganization(call, request.orgId);
    const rows = await db.withTenant(orgId, async (tx) => {
      await requireOrganization(tx, orgId);
      requirePeopleManager(call);
      return listSeatRows(tx, orgId, readPage(request.page, PAGE_ROWS));
    });
    return { seats: rows.map(encodeSeat) };
  };
}

/**
 * Gives a member another role, which their sessions have within a second.
 * @throws not_found, forbidden, bad_request, conflict for the last owner
 */
export function changeSeat(deps: ControlDeps): ControlHandlers["changeSeat"] {
  return async (request, call) => {
    const orgId = visibleOrganization(call, request.orgId);
    const seat = await commitProjectionChange(deps, orgId, async (tx) => {
      const found = await lockSeat(tx, deps, call, orgId, request.membershipId);
      throwFault(request.bodyFault);
      const role = readRole(request.role);
      await requireMayChange(tx, found, role);
      if (role === found.seat.role) return found.seat;
      await updateMembership(tx, { orgId, userId: found.seat.user_id, role, status: found.seat.status });
      const target = { type: "membership", id: found.seat.id };
      await recordAudit(tx, call, { orgId, action: "member.changed", target });
      return { ...found.seat, role };
    });
    return { seat: encodeSeat(seat) };
  };
}

/**
 * Removes a member from the organization: frees their seat and ends their sessions there. Keys that they made stay.
 * @throws not_found, forbidden, conflict for the last owner
 */
export function removeSeat(deps: ControlDeps): ControlHandlers["removeSeat"] {
  return async (request, call) => {
    const orgId = visibleOrganization(call, request.orgId);
    const seat = await commitProjectionChange(deps, orgId, async (tx) => {
      const found = await lockSeat(tx, deps, call, orgId, request.membershipId);
      await requireMayChange(tx, found, undefined);
      await removeSeatRow(tx, found.seat, deps.now());
      const target = { type: "membership", id: found.seat.id };
      await recordAudit(tx, call, { orgId, action: "member.removed", target });
      return found.seat;
    });
    return { seat: encodeSeat(seat) };
  };
}

type LockedSeat = { readonly seat: SeatRow; readonly changesOwners: boolean };

/** Finds a seat for a caller who manages people. Changes of people of an organization run one after another. @throws not_found, forbidden, unauthenticated */
async function lockSeat(
  tx: Tx,
  deps: ControlDeps,
  call: Call,
  orgId: string,
  membershipId: string,
): Promise<LockedSeat> {
  if ((await lockOrganization(tx, orgId)) === undefined) throw notFound("organization");
  const caller = await lockPeopleManager(tx, call, deps.now());
  const seat = await findSeatRow(tx, orgId, pathId(membershipId, "seat"));
  if (seat === undefined) throw notFound("seat");
  return { seat, changesOwners: isOperator(caller) || caller.identity?.role === "owner" };
}

/** Checks a change to a role, or a removal. @throws forbidden, conflict */
async function requireMayChange(tx: Tx, { seat, changesOwners }: LockedSeat, role: Role | undefined): Promise<void> {
  if (!changesOwners && (seat.role === "owner" || role === "owner")) {
    throw new AppError("forbidden", "only an owner makes, changes or removes owners");
  }
  const isLast = seat.role === "owner" && role !== "owner" && !(await hasOtherOwner(tx, seat.org_id, seat.id));
  if (isLast) throw new AppError("conflict", "an organization keeps its last owner");
}

/**
 * Checks that no more seats are taken than exist, including the caller's new one. The caller has locked the
 * organization's row, so that two requests do not both take the last seat.
 * @throws invite_seat_limit_reached
 */
export async function requireSeats(
  tx: Tx,
  { now, settings }: ControlDeps,
  organization: OrganizationRow,
): Promise<void> {
  if (!settings.seatLimits) return;
  const { org_id: orgId, seat_limit: limit } = organization;
  if (await exceedsSeats(tx, orgId, now(), limit)) throw seatLimitReached(limit);
}

/**
 * Returns a seat as a message, with only the personal data that colleagues may see. A person who has not joined yet is shown by address alone, so that
 * reserving a seat does not reveal whether a person has an account, or their name there.
 */
function encodeSeat(row: SeatRow): MessageInitShape<typeof SeatSchema> {
  const isColleague = row.status === "active";
  return {
    membership: encodeMembership(row),
    user: {
      id: row.user_id,
      primaryEmail: row.email,
      displayName: (isColleague ? row.display_name : null) ?? "",
      avatarUrl: (isColleague ? row.avatar_url : null) ?? "",
    },
  };
}
