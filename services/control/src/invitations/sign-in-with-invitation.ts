import { AppError, notFound } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import type { ControlDeps, ControlHandlers } from "../deps.ts";
import { listDeletedMemberships, listMembershipsOfUser } from "../organizations/memberships.sql.ts";
import { enterOrganization, lockOrganization } from "../organizations/organizations.sql.ts";
import { upsertUser } from "../organizations/users.sql.ts";
import { announceChange } from "../projection/lock-caller.ts";
import { openSession } from "../sessions/open-session.ts";
import { linkSignsIn } from "../sessions/sign-in.ts";
import { invitationOf, joinByInvitation, requireOpen } from "./accept-invitation.ts";
import { findInvitation, lockInvitation } from "./invitations.sql.ts";

/**
 * Makes the receiver of a pending invitation a member and opens a session, by the link alone. It works once: of two simultaneous calls one opens a
 * session.
 * @throws unauthenticated where links do not sign in (`linkSignsIn`); forbidden for people with an account; conflict unless pending; the errors of
 * joining by invitation
 */
export function signInWithInvitation(deps: ControlDeps): ControlHandlers["signInWithInvitation"] {
  return async ({ token, fromThisMachine }, call) => {
    if (!linkSignsIn(deps.settings, fromThisMachine))
      throw new AppError("unauthenticated", "this way of signing in is not enabled");
    const created = await deps.db.transaction(async (tx) => {
      const { orgId, id } = await invitationOf(tx, token);
      await enterOrganization(tx, orgId);
      const email = (await findInvitation(tx, orgId, id))?.email;
      if (email === undefined) throw notFound("invitation");
      // The user is locked before the organization, as in every sign-in.
      const user = await upsertUser(tx, { id: deps.newId(), email, displayName: "", avatarUrl: "", now: deps.now() });
      await lockOrganization(tx, orgId);
      const invitation = await lockInvitation(tx, orgId, id);
      if (invitation === undefined) throw notFound("invitation");
      requireOpen(invitation, deps.now());
      await requireNoAccount(tx, deps, user.id, orgId);
      await joinByInvitation(tx, deps, call, user, token);
      const session = await openSession(tx, deps, { orgId, userId: user.id });
      await announceChange(tx, orgId);
      return session;
    });
    deps.wakeRelay();
    return { created };
  };
}

/**
 * Checks that a person is a member of no organization; a reserved seat of this one is not a membership yet. The admin who invites sees the link, and could
 * otherwise act as anyone whose address they know, here and in other organizations.
 * @throws forbidden
 */
async function requireNoAccount(tx: Tx, { now }: ControlDeps, userId: string, orgId: string): Promise<void> {
  const live = await listMembershipsOfUser(tx, userId);
  const deleted = await listDeletedMemberships(tx, userId, now());
  if ([...live, ...deleted].every((one) => one.org_id === orgId && one.status === "invited")) return;
  throw new AppError("forbidden", "this person has an account here: sign in first, then open the link again");
}
