import { AppError, badRequest, notFound } from "@tidemark/errors";
import { CallerKind, type FieldFault } from "@tidemark/proto/common/v1/common";
import type { Call } from "@tidemark/rpc";
import { awaitsPayment } from "@tidemark/limits";

/** The sender of a request: the identity that the gateway attached, with undefined in place of empty texts. */
export type Caller = {
  readonly kind: CallerKind;
  readonly orgId: string;
  /** The only project that the caller may see; undefined: every project of the organization. */
  readonly projectId: string | undefined;
  readonly planTier: string;
  readonly billingState: string;
  /** A key's own scopes, or those of a session's role. */
  readonly scopes: readonly string[];
};

/** Returns the caller of a request of an organization. @throws unauthenticated when the call has no organization */
export function callerOf({ identity }: Call): Caller {
  if (identity === undefined || identity.orgId === "") {
    throw new AppError("unauthenticated", "this call needs the credentials of an organization");
  }
  const { kind, orgId, projectId, planTier, billingState, scopes } = identity;
  return { kind, orgId, projectId: projectId === "" ? undefined : projectId, planTier, billingState, scopes };
}

/** Whether the caller may know that something exists, from the organization and the project that own it. */
export function canSee(
  caller: Pick<Caller, "orgId" | "projectId">,
  row: { readonly orgId: string; readonly projectId: string },
): boolean {
  return row.orgId === caller.orgId && (caller.projectId === undefined || row.projectId === caller.projectId);
}

/**
 * Throws the fault that the gateway found in the body or the query, if it found one. Call it after the row of the path
 * was found: a missing row takes precedence over a bad field.
 * @throws bad_request
 */
export function throwFault(fault: Pick<FieldFault, "text" | "field"> | undefined): void {
  // A fault of no single field has an empty field on the wire; clients get none.
  if (fault !== undefined) throw badRequest(fault.text, fault.field || undefined);
}

const CANONICAL = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Whether a text is a UUID in its canonical form: lower case, with hyphens. */
export function isUuid(text: string): boolean {
  return CANONICAL.test(text);
}

/** Returns the id that a path names, in lower case. @throws not_found of `what` for a text that is not a UUID */
export function pathId(text: string, what: string): string {
  const id = text.toLowerCase();
  if (!isUuid(id)) throw notFound(what);
  return id;
}

/** Returns the page of a list that is counted from its start: `rows.default` rows unless the request says, at most `rows.max`, from `offset`. */
export function readPage(
  page: { readonly limit: number; readonly offset: bigint } | undefined,
  rows: { readonly default: number; readonly max: number },
): { limit: number; offset: number } {
  return { limit: Math.min(page?.limit || rows.default, rows.max), offset: Number(page?.offset ?? 0) };
}

/** Returns a page size that is within its bounds. @throws bad_request */
export function requireLimit(limit: number, max: number, field = "limit"): number {
  if (limit >= 1 && limit <= max) return limit;
  throw badRequest(`${field} must be a whole number from 1 to ${max}`, field);
}

/** Whether a search text can be found at all: text that cannot be stored, with NUL or lone surrogates, is never found. */
export function canBeFound(q: string): boolean {
  return !q.includes("\0") && q.isWellFormed();
}

/** Refuses writes while a payment is due (API specification, Errors). @throws payment_required */
export function refuseUnpaid({ billingState }: Pick<Caller, "billingState">): void {
  if (!awaitsPayment(billingState)) return;
  throw new AppError("payment_required", "the organization needs a billing action before it can write anything new");
}

/** Returns the actor of an entry in the audit log, as `control.record_audit_v1` takes it: a key by the id in its text. */
export function auditActor({ identity }: Pick<Call, "identity">): {
  readonly type: "user" | "api_key" | "operator";
  readonly id: string;
} {
  if (identity?.kind === CallerKind.SESSION) return { type: "user", id: identity.userId };
  if (identity?.kind === CallerKind.API_KEY) return { type: "api_key", id: identity.credentialId };
  return { type: "operator", id: "" };
}
