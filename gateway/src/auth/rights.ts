import { AppError, isAppError } from "@tidemark/errors";
import type { Identity } from "@tidemark/proto/common/v1/common";

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
