import { AppError } from "@tidemark/errors";
import type { CallerKind } from "@tidemark/proto/common/v1/common";
import type { Call } from "@tidemark/rpc";

/** Who sent a request: the identity that the gateway attached, with undefined in place of empty texts. */
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

/** Tells whether the caller may know that something exists, from the organization and the project that own it. */
export function canSee(
  caller: Pick<Caller, "orgId" | "projectId">,
  row: { readonly orgId: string; readonly projectId: string },
): boolean {
  return row.orgId === caller.orgId && (caller.projectId === undefined || row.projectId === caller.projectId);
}
