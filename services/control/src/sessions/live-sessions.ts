import type { MessageInitShape } from "@bufbuild/protobuf";
import { AppError, notFound } from "@tidemark/errors";
import { PAGE_ROWS } from "@tidemark/limits";
import type { ListedSessionSchema } from "@tidemark/proto/control/v1/control";
import { pathId, readPage } from "@tidemark/requests";
import { recordAudit } from "../audit/audit-events.ts";
import type { ControlDeps, ControlHandlers } from "../deps.ts";
import { requireSession, type SignedIn } from "../organizations/users.ts";
import { enterOrganization } from "../organizations/organizations.sql.ts";
import { isAdmin } from "../organizations/people.rules.ts";
import { announceChange, lockCaller } from "../projection/lock-caller.ts";
import {
  findLiveSession,
  listSessionsOfOrganization,
  listSessionsOfUser,
  organizationOfOwnSession,
  type LiveSessionRow,
} from "./live-sessions.sql.ts";
import { encodeSession } from "./open-session.ts";
import { revokeSession } from "./sessions.sql.ts";

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
