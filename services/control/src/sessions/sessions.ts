import { AppError } from "@tidemark/errors";
import { recordAudit } from "../audit/audit-events.ts";
import type { ControlDeps, ControlHandlers } from "../deps.ts";
import { requireSession, type SignedIn } from "../organizations/users.ts";
import { listMembershipsOfUser } from "../organizations/memberships.sql.ts";
import { commitProjectionChange, findLiveCredential } from "../projection/lock-caller.ts";
import { tradeSession, viewSession } from "./open-session.ts";
import { findSession, revokeSession } from "./sessions.sql.ts";

/** Returns the signed-in user. Without one, the response is empty and not an error. */
export function getSession({ db, now }: ControlDeps): ControlHandlers["getSession"] {
  return async ({ token }) => {
    const found = await findLiveCredential(db, "session", token, now());
    if (found === undefined) return {};
    const view = await db.withTenant(found.org_id, async (tx) => {
      const session = await findSession(tx, found.org_id, found.id);
      return session === undefined ? undefined : viewSession(tx, session);
    });
    return view === undefined ? {} : { view };
  };
}

/** Ends the session of a cookie. A cookie without a session is not an error. */
export function signOut(deps: ControlDeps): ControlHandlers["signOut"] {
  return async ({ token }, call) => {
    const found = await findLiveCredential(deps.db, "session", token, deps.now());
    if (found !== undefined) {
      const { org_id: orgId } = found;
      await commitProjectionChange(deps, orgId, async (tx) => {
        const session = await findSession(tx, orgId, found.id);
        const isEnded = await revokeSession(tx, orgId, found.id, deps.now());
        if (session === undefined || !isEnded) return;
        const target = { type: "session", id: session.id };
        const { user_id: userId, key_id: keyId } = session;
        const actor = userId === null ? { keyId: keyId! } : { userId };
        await recordAudit(tx, call, { orgId, action: "session.ended", target, ...actor });
      });
    }
    return {};
  };
}

/**
 * Moves the caller to another of their organizations, with a new session. A caller who is there already keeps their
 * session.
 * @throws unauthenticated; forbidden for an organization of which the user is not an active member, whether or not it exists
 */
export function switchOrganization(deps: ControlDeps): ControlHandlers["switchOrganization"] {
  return async (request, call) => {
    const caller = requireSession(call);
    const orgId = request.orgId.toLowerCase();
    if (orgId === caller.orgId) return { created: { view: await ownView(deps, caller) } };
    const created = await deps.db.transaction(async (tx) => {
      const memberships = await listMembershipsOfUser(tx, caller.userId);
      if (!memberships.some((row) => row.org_id === orgId && row.status === "active")) {
        throw new AppError("forbidden", "the user is no active member of that organization");
      }
      return tradeSession(tx, deps, caller, orgId);
    });
    deps.wakeRelay();
    return { created };
  };
}

async function ownView({ db }: ControlDeps, { orgId, credentialId }: SignedIn) {
  const view = await db.withTenant(orgId, async (tx) => {
    const session = await findSession(tx, orgId, credentialId);
    return session === undefined || session.revoked_at !== null ? undefined : viewSession(tx, session);
  });
  if (view === undefined) throw new AppError("unauthenticated", "the session has ended");
  return view;
}
