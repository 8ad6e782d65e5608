import { AppError, notFound } from "@tidemark/errors";
import { pathId, readPage } from "@tidemark/requests";
import { PAGE_ROWS } from "@tidemark/limits";
import { CallerKind } from "@tidemark/proto/common/v1/common";
import type { Call } from "@tidemark/rpc";
import type { ControlDeps, ControlHandlers } from "../deps.ts";
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

/** A caller who is signed in. */
export type SignedIn = { readonly orgId: string; readonly userId: string; readonly credentialId: string };

/** Returns whether the caller used the bootstrap token. */
export function isOperator(call: Pick<Call, "identity">): boolean {
  return call.identity?.kind === CallerKind.OPERATOR;
}

/** Checks that the caller used the bootstrap token. @throws unauthenticated */
export function requireOperator(call: Call): void {
  if (!isOperator(call)) throw new AppError("unauthenticated", "invalid bootstrap token");
}

/** Returns the signed-in caller. @throws unauthenticated unless a session calls */
export function requireSession(call: Call): SignedIn {
  const { identity } = call;
  if (identity === undefined || identity.kind !== CallerKind.SESSION) {
    throw new AppError("unauthenticated", "a signed-in session is needed");
  }
  return { orgId: identity.orgId, userId: identity.userId, credentialId: identity.credentialId };
}

/** Returns the user of a session; undefined for keys and operators. */
export function callingUser(call: Call): string | undefined {
  return call.identity?.userId || undefined;
}

/**
 * Returns the id of the organization that the path names. An operator may know of any organization, every other caller only
 * of their own.
 * @throws not_found
 */
export function visibleOrganization(call: Call, orgId: string): string {
  const id = pathId(orgId, "organization");
  if (!isOperator(call) && call.identity?.orgId !== id) throw notFound("organization");
  return id;
}

/** Checks that the caller may manage an organization's people: an operator, or a session of an owner or admin. @throws forbidden */
export function requirePeopleManager(call: Pick<Call, "identity">): void {
  const { identity } = call;
  if (isOperator(call) || (identity?.kind === CallerKind.SESSION && isAdmin(identity.role))) return;
  throw new AppError("forbidden", "an owner or admin of the organization is needed");
}
