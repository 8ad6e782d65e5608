import { AppError } from "@tidemark/errors";
import { CallerKind, type Identity } from "@tidemark/proto/common/v1/common";
import { CredentialKind } from "@tidemark/proto/control/v1/control";
import type { CredentialCallers } from "./callers.ts";
import { checkRights, unauthenticated } from "./authorize.ts";
import { identityOf, isLive, type Access, type KnownCredential } from "./directory.ts";
import type { RenewRights } from "./rights.ts";

/** The caller that got a signed address: a key or a session, and its target's project. A signed address allows nothing that its caller may no longer do. */
export type SealedCaller = Pick<Identity, "kind" | "credentialId" | "orgId" | "projectId">;

/** Returns a function that decides whether a sealed caller may still do what only these callers may. */
export type RenewalOf = (caller: SealedCaller, callers: CredentialCallers) => RenewRights;

/** Creates the decision; it looks in memory, and asks the control service for unknown credentials. `nowMs` is the wall clock. */
export function createRenewalOf({
  access,
  nowMs,
}: {
  readonly access: Access;
  readonly nowMs: () => number;
}): RenewalOf {
  return (caller, callers) => {
    const { credentialId } = caller;
    const kind = caller.kind === CallerKind.SESSION ? CredentialKind.SESSION : CredentialKind.API_KEY;
    const allow = (known: KnownCredential | undefined): Identity => {
      if (known === undefined || !isLive(known, nowMs()))
        throw unauthenticated("the credential of this address has ended");
      const identity = identityOf(known);
      checkRights(callers, identity);
      if (!canSee(identity, caller))
        throw new AppError("forbidden", "the credential opens another project than this address");
      return identity;
    };
    return () => {
      const known = access.known(kind, credentialId);
      return known === undefined ? access.lookUp(kind, credentialId).then(allow) : allow(known);
    };
  };
}

function canSee({ orgId, projectId }: Identity, caller: SealedCaller): boolean {
  return orgId === caller.orgId && (projectId === "" || projectId === caller.projectId);
}
