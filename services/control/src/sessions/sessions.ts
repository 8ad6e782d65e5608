import { AppError, notFound } from "@tidemark/errors";
import { recordAudit } from "../audit/audit-events.ts";
import type { ControlDeps, ControlHandlers } from "../deps.ts";
import { requireSession, type SignedIn } from "../organizations/users.ts";
import { listMembershipsOfUser } from "../organizations/memberships.sql.ts";
import { commitProjectionChange, findLiveCredential, announceChange, lockCaller } from "../projection/lock-caller.ts";
import { tradeSession, viewSession, encodeSession } from "./open-session.ts";
import { findSession, revokeSession } from "./sessions.sql.ts";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { PAGE_ROWS } from "@tidemark/limits";
import type { ListedSessionSchema } from "@tidemark/proto/control/v1/control";
import { pathId, readPage } from "@tidemark/requests";
import { enterOrganization } from "../organizations/organizations.sql.ts";
import { isAdmin } from "../organizations/people.rules.ts";
import {
  findLiveSession,
  listSessionsOfOrganization,
  listSessionsOfUser,
  organizationOfOwnSession,
  type LiveSessionRow,
} from "./live-sessions.sql.ts";

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

/**
 * Lists the live sessions of the caller in all organizations, or with `all` every live session in this one, newest first.
 * @throws unauthenticated; with `all` forbidden unless the caller is an owner or admin
 */
export function listSessions({ db, now }: ControlDeps): ControlHandlers["listSessions"] {
  return async ({ all, page: wanted }, call) => {
    const caller = requireSession(call);
    if (all && !isAdmin(call.identity!.role)) throw new AppError("forbidden", "an owner or admin is needed");
    const page = readPage(wanted, PAGE_ROWS);
    const rows = await db.withTenant(caller.orgId, (tx) =>
      all
        ? listSessionsOfOrganization(tx, caller.orgId, now(), page)
        : listSessionsOfUser(tx, caller.userId, now(), page),
    );
    return { sessions: rows.map((row) => encodeListed(row, caller)) };
  };
}

/**
 * Ends a session of the caller, in any organization; owners and admins may end any session in this one. It is refused everywhere within a second.
 * @throws unauthenticated; not_found for one that the caller may not end, or that has ended
 */
export function endSession(deps: ControlDeps): ControlHandlers["endSession"] {
  return async ({ sessionId }, call) => {
    const caller = requireSession(call);
    const id = pathId(sessionId, "session");
    const now = deps.now();
    const ended = await deps.db.withTenant(caller.orgId, async (tx) => {
      const { identity } = await lockCaller(tx, call, now);
      const own = await organizationOfOwnSession(tx, caller.userId, id, now);
      const orgId = own ?? (isAdmin(identity!.role) ? caller.orgId : undefined);
      if (orgId === undefined) throw notFound("session");
      await enterOrganization(tx, orgId);
      const row = await findLiveSession(tx, orgId, id, now);
      if (row === undefined || !(await revokeSession(tx, orgId, row.credential_id, now))) throw notFound("session");
      await recordAudit(tx, call, { orgId, action: "session.ended", target: { type: "session", id } });
      await announceChange(tx, orgId);
      return row;
    });
    deps.wakeRelay();
    return { session: encodeListed(ended, caller) };
  };
}

function encodeListed(row: LiveSessionRow, caller: SignedIn): MessageInitShape<typeof ListedSessionSchema> {
  return {
    session: encodeSession({ ...row, revoked_at: null }),
    ...(row.user_id === null
      ? {}
      : {
          user: {
            id: row.user_id,
            primaryEmail: row.email ?? "",
            displayName: row.display_name ?? "",
            avatarUrl: row.avatar_url ?? "",
          },
        }),
    keyId: row.key_id ?? "",
    current: row.org_id === caller.orgId && row.credential_id === caller.credentialId,
    organizationName: row.organization_name,
  };
}
