import { AppError } from "@tidemark/errors";
import { readPage } from "@tidemark/requests";
import { PAGE_ROWS } from "@tidemark/limits";
import type { ControlDeps, ControlHandlers } from "../deps.ts";
import { requireOperator, requireSession } from "./callers.ts";
import { encodeMembershipSummaries, encodeUser } from "./encode-organization.ts";
import { listDeletedMemberships, listMembershipsOfUser } from "./memberships.sql.ts";
import { isAdmin, readEmail } from "./people.rules.ts";
import { listUserRows, upsertUser } from "./users.sql.ts";

/**
 * Creates a user, or returns the one with this address after filling in the missing fields. For operators.
 * @throws unauthenticated; bad_request for a text that is not an address
 */
export function createUser({ db, newId, now }: ControlDeps): ControlHandlers["createUser"] {
  return async ({ email, displayName, avatarUrl }, call) => {
    requireOperator(call);
    const user = await upsertUser(db, { id: newId(), email: readEmail(email), displayName, avatarUrl, now: now() });
    return { user: encodeUser(user) };
  };
}

/** Lists all users, oldest first. For operators. @throws unauthenticated */
export function listUsers({ db }: ControlDeps): ControlHandlers["listUsers"] {
  return async ({ page }, call) => {
    requireOperator(call);
    return { users: (await listUserRows(db, readPage(page, PAGE_ROWS))).map(encodeUser) };
  };
}

/**
 * Lists the organizations in which the caller is an active member, the current one first; on `deleted` those that are deleted and can be restored.
 * @throws unauthenticated; on `deleted` forbidden unless the caller is an owner or admin
 */
export function listMemberships({ db, now }: ControlDeps): ControlHandlers["listMemberships"] {
  return async ({ deleted }, call) => {
    const { userId, orgId } = requireSession(call);
    if (deleted && !isAdmin(call.identity!.role)) throw new AppError("forbidden", "an owner or admin is needed");
    const rows = deleted ? await listDeletedMemberships(db, userId, now()) : await listMembershipsOfUser(db, userId);
    return { memberships: encodeMembershipSummaries(rows, orgId) };
  };
}
