import { AppError, isAppError } from "@tidemark/errors";
import type { Identity } from "@tidemark/proto/common/v1/common";

/**
 * Decides again what was decided when a request began: whether its caller may do what it asks for. Returns the caller as it is now.
 * @throws unauthenticated, forbidden, service_unavailable
 */
export type RenewRights = () => Identity | Promise<Identity>;

/** Looks again and again at the rights of requests that take long. */
export type RightsWatch = {
  /** Calls `end` once when the rights have ended. Returns what ends the watch. */
  readonly begin: (renew: RenewRights, end: (refusal: AppError) => void) => () => void;
  readonly close: () => void;
};

/** What ends rights is known within a second, or ten without the bus. */
const LOOK_MS = 2000;

/** Creates the watch of a gateway. */
export function createRightsWatch(): RightsWatch {
  const watched = new Set<{ readonly renew: RenewRights; readonly end: (refusal: AppError) => void }>();
  const look = (): void => {
    for (const one of watched) {
      const refuse = (error: unknown): void => {
        // Who cannot be asked at the moment is asked next time.
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

/** Requires that a caller still sees what it saw: a request goes on with the rows that it began with. @throws forbidden */
export function requireSameRows(now: Identity, before: Identity): Identity {
  if (now.orgId === before.orgId && now.projectId === before.projectId) return now;
  throw new AppError("forbidden", "the credential opens another project than when the request began");
}
