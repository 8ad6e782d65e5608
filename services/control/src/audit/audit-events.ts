import { isInstant, readCursor, writeCursor } from "@tidemark/values";
import { AppError, badRequest } from "@tidemark/errors";
import { PAGE_ROWS } from "@tidemark/limits";
import { auditActor, isUuid, requireLimit } from "@tidemark/requests";
import type { Tx } from "@tidemark/pg";
import type { Call } from "@tidemark/rpc";
import type { ControlDeps, ControlHandlers } from "../deps.ts";
import { requireSession, visibleOrganization } from "../organizations/users.ts";
import { requireOrganization } from "../organizations/organizations.sql.ts";
import { isAdmin } from "../organizations/people.rules.ts";
import { insertAudit, listAuditRows, type AuditPosition } from "./audit.sql.ts";

/** A position newer than every event. */
const TOP: AuditPosition = { at: "infinity", id: "ffffffff-ffff-ffff-ffff-ffffffffffff" };

/**
 * Lists the actions in an organization, newest first, for owners and admins who are signed in.
 * @throws unauthenticated, not_found, forbidden, bad_request
 */
export function listAuditEvents({ db }: ControlDeps): ControlHandlers["listAuditEvents"] {
  return async (request, call) => {
    requireSession(call);
    const orgId = visibleOrganization(call, request.orgId);
    if (!isAdmin(call.identity?.role ?? ""))
      throw new AppError("forbidden", "an owner or admin of the organization is needed");
    const limit = requireLimit(request.limit, PAGE_ROWS.max);
    const after = readPosition(request.cursor);
    const rows = await db.withTenant(orgId, async (tx) => {
      await requireOrganization(tx, orgId);
      // One more event shows whether there is a next page.
      return listAuditRows(tx, orgId, after, limit + 1);
    });
    const page = rows.slice(0, limit);
    return {
      events: page.map((row) => ({
        id: row.id,
        at: row.at,
        actorType: row.actor_type,
        actorId: row.actor_id,
        action: row.action,
        targetType: row.target_type,
        targetId: row.target_id,
        requestId: row.request_id,
        runs: row.runs ?? 0,
        fromProjectId: row.from_project_id ?? "",
      })),
      nextCursor: rows.length > limit ? writeCursor([page.at(-1)!.at, page.at(-1)!.id]) : "",
    };
  };
}

/** @throws bad_request */
function readPosition(cursor: string): AuditPosition {
  if (cursor === "") return TOP;
  const [at, id] = readCursor(cursor, 2) ?? [];
  if (isInstant(at) && typeof id === "string" && isUuid(id)) return { at, id };
  throw badRequest("cursor is not a cursor of this list", "cursor");
}

/** The actions that are recorded. */
type AuditAction =
  | "api_key.created"
  | "api_key.revoked"
  | "device_login.confirmed"
  | "invitation.resent"
  | "invitation.revoked"
  | "member.changed"
  | "member.invited"
  | "member.joined"
  | "member.removed"
  | "organization.changed"
  | "organization.created"
  | "organization.deleted"
  | "organization.restored"
  | "session.ended";

/** An action and its target. */
type AuditedChange = {
  readonly orgId: string;
  readonly action: AuditAction;
  readonly target: { readonly type: string; readonly id: string };
  /** The user who did it, if not the caller: a user who is signing in has no identity yet. */
  readonly userId?: string;
  /** The key that did it, by the id in its text. */
  readonly keyId?: string;
};

/**
 * Adds an event to the audit log of an organization, in the transaction of the change, which has entered the organization. Called once for each change that
 * took place; a request that changed nothing is not an event.
 */
export function recordAudit(tx: Tx, call: Pick<Call, "identity" | "requestId">, change: AuditedChange): Promise<void> {
  const { orgId, action, target } = change;
  const actor = actorOf(call, change);
  return insertAudit(tx, {
    org_id: orgId,
    actor_type: actor.type,
    actor_id: actor.id,
    action,
    target_type: target.type,
    target_id: target.id,
    request_id: call.requestId,
  });
}

function actorOf(call: Pick<Call, "identity">, { userId, keyId }: AuditedChange): ReturnType<typeof auditActor> {
  if (userId !== undefined) return { type: "user", id: userId };
  return keyId === undefined ? auditActor(call) : { type: "api_key", id: keyId };
}
