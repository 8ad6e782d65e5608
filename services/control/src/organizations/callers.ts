import { AppError, notFound } from "@tidemark/errors";
import { CallerKind } from "@tidemark/proto/common/v1/common";
import { pathId } from "@tidemark/requests";
import type { Call } from "@tidemark/rpc";
import { isAdmin } from "./people.rules.ts";

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
