import { readPage } from "@tidemark/requests";
import { PAGE_ROWS } from "@tidemark/limits";
import type { ControlDeps, ControlHandlers } from "../deps.ts";
import { requireOperator, requireSession } from "./callers.ts";
import { encodeMembershipSummaries, encodeUser } from "./encode-organization.ts";
import { listMembershipsOfUser } from "./memberships.sql.ts";
import { readEmail } from "./people.rules.ts";
import { listUserRows, upsertUser } from "./users.sql.ts";

/**
 * Creates a user, or returns the one with this address after filling in what is not known of them. For operators.
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

/** Lists the organizations in which the caller is an active member, the current one first. @throws unauthenticated */
export function listMemberships({ db }: ControlDeps): ControlHandlers["listMemberships"] {
  return async (_, call) => {
    const { userId, orgId } = requireSession(call);
    return { memberships: encodeMembershipSummaries(await listMembershipsOfUser(db, userId), orgId) };
  };
}
