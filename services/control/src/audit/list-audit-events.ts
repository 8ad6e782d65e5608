import { isInstant, readCursor, writeCursor } from "@tidemark/cursors";
import { AppError, badRequest } from "@tidemark/errors";
import { PAGE_ROWS } from "@tidemark/limits";
import { isUuid, requireLimit } from "@tidemark/requests";
import type { ControlDeps, ControlHandlers } from "../deps.ts";
import { requireSession, visibleOrganization } from "../organizations/callers.ts";
import { requireOrganization } from "../organizations/organizations.sql.ts";
import { isAdmin } from "../organizations/people.rules.ts";
import { listAuditRows, type AuditPosition } from "./audit.sql.ts";

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
