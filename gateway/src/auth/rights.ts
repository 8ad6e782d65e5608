import { AppError, isAppError } from "@tidemark/errors";
import { CallerKind, type Identity } from "@tidemark/proto/common/v1/common";
import { CredentialKind } from "@tidemark/proto/control/v1/control";
import { checkRights, unauthenticated, type CredentialCallers } from "./callers.ts";
import { identityOf, isLive, type Access, type KnownCredential } from "./directory.ts";

/**
 * Decides again, as when a request began, whether its caller may do what it requests. Returns the caller's current identity.
 * @throws unauthenticated, forbidden, service_unavailable
 */
export type RenewRights = () => Identity | Promise<Identity>;

/** Rechecks the rights of long requests periodically. */
export type RightsWatch = {
  /** Calls `end` once when the rights have ended. Returns a function that ends the watch. */
  readonly begin: (renew: RenewRights, end: (refusal: AppError) => void) => () => void;
  readonly close: () => void;
};

/** An event that ends rights is known within a second, or ten without the bus. */
const LOOK_MS = 2000;

/** Creates the watch of a gateway. */
export function createRightsWatch(): RightsWatch {
  const watched = new Set<{ readonly renew: RenewRights; readonly end: (refusal: AppError) => void }>();
  const look = (): void => {
    for (const one of watched) {
      const refuse = (error: unknown): void => {
        // Callers whose rights cannot be looked up now are checked next time.
        if (!isRefusal(error) || !watched.delete(one)) return;
        one.end(error);
      };
      try {
        const renewed = one.renew();
        if (renewed instanceof Promise) renewed.catch(refuse);
      } catch (error) {
        refuse(error);
      }
    }
  };
  const timer = setInterval(look, LOOK_MS);
  timer.unref();
  return {
    begin(renew, end) {
      const one = { renew, end };
      watched.add(one);
      return () => void watched.delete(one);
    },
    close: () => clearInterval(timer),
  };
}

const refusals: ReadonlySet<string> = new Set(["unauthenticated", "forbidden"]);

/** Whether an error says that a caller has no rights, and not that they could not be looked up. */
export function isRefusal(error: unknown): error is AppError {
  return isAppError(error) && refusals.has(error.reason);
}

/** Requires that a caller still sees what it saw: a request continues with the rows that it began with. @throws forbidden */
export function requireSameRows(now: Identity, before: Identity): Identity {
  if (now.orgId === before.orgId && now.projectId === before.projectId) return now;
  throw new AppError("forbidden", "the credential opens another project than when the request began");
}

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
