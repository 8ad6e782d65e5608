import { AppError } from "@tidemark/errors";
import type { Call } from "@tidemark/rpc";

/** Who asks, as far as this service cares. */
export type Caller = {
  readonly orgId: string;
  /** The one project that the caller may see; undefined: all of the organization. */
  readonly projectId: string | undefined;
  readonly planTier: string;
  readonly billingState: string;
  readonly scopes: readonly string[];
};

/** Reads the identity that the gateway attached. @throws unauthenticated when the call has no organization */
export function callerOf(call: Call): Caller {
  const { identity } = call;
  if (identity === undefined || identity.orgId === "") {
    throw new AppError("unauthenticated", "this call needs the credentials of an organization");
  }
  return {
    orgId: identity.orgId,
    projectId: identity.projectId === "" ? undefined : identity.projectId,
    planTier: identity.planTier,
    billingState: identity.billingState,
    scopes: identity.scopes,
  };
}
