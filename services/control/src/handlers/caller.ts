import { AppError, notFound } from "@tidemark/errors";
import { CallerKind } from "@tidemark/proto/common/v1/common";
import { pathId } from "@tidemark/requests";
import type { Call } from "@tidemark/rpc";
import { isAdmin } from "../domain/roles.ts";

/** Somebody who is signed in. */
export type SignedIn = { readonly orgId: string; readonly userId: string; readonly credentialId: string };

/** Whether the caller came with the bootstrap token. */
export function isOperator(call: Call): boolean {
  return call.identity?.kind === CallerKind.OPERATOR;
}

/** @throws unauthenticated unless the caller came with the bootstrap token */
export function requireOperator(call: Call): void {
  if (!isOperator(call)) throw new AppError("unauthenticated", "invalid bootstrap token");
}

/** @throws unauthenticated unless a session calls */
export function requireSession(call: Call): SignedIn {
  const { identity } = call;
  if (identity === undefined || identity.kind !== CallerKind.SESSION) {
    throw new AppError("unauthenticated", "a signed-in session is needed");
  }
  return { orgId: identity.orgId, userId: identity.userId, credentialId: identity.credentialId };
}

/** The user behind a session; undefined for keys and operators. */
export function callingUser(call: Call): string | undefined {
  return call.identity?.userId || undefined;
}

/**
 * The organization that the path names, if the caller may know that it exists: an operator any, everybody else their own.
 * @throws not_found
 */
export function visibleOrganization(call: Call, orgId: string): string {
  const id = pathId(orgId, "organization");
  if (!isOperator(call) && call.identity?.orgId !== id) throw notFound("organization");
  return id;
}

/** Who may manage an organization's people: an operator, or a session of an owner or admin. @throws forbidden */
export function requirePeopleManager(call: Call): void {
  const { identity } = call;
  if (isOperator(call) || (identity?.kind === CallerKind.SESSION && isAdmin(identity.role))) return;
  throw new AppError("forbidden", "an owner or admin of the organization is needed");
}
