import { AppError } from "@tidemark/errors";
import { busy, createFairShare } from "@tidemark/turns";

/** `admit` is set before it may be called. */
type Waiter = { admit: (() => void) | undefined };

/** How many complete exports a process reads at the same time. */
export type ExportPlaces = {
  /** Takes a place for an organization, waiting for it. Returns its release function, to be called once. @throws service_unavailable after five seconds */
  readonly take: (orgId: string) => Promise<() => void>;
};

/** Milliseconds that an export waits for a place. */
const WAIT_MS = 5000;
/** How long a client should wait before it asks again. */
const RETRY_SECONDS = 10;

/** Shares the places for exports among organizations like the connections of a pool, because each export keeps one. */
export function createExportPlaces(places: number, waitMs: number = WAIT_MS): ExportPlaces {
  const share = createFairShare<Waiter>(places);
  return {
    async take(orgId) {
      const waiter: Waiter = { admit: undefined };
      const entered = share.enter(orgId, waiter, Date.now());
      if (entered === "refused") throw busy();
      if (entered === "waiting") {
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        const timer = setTimeout(() => {
          if (share.withdraw(orgId, waiter)) reject(tooMany());
        }, waitMs);
        waiter.admit = () => {
          clearTimeout(timer);
          resolve();
        };
        await promise;
      }
      return () => {
        for (const { admit } of share.leave(orgId, Date.now())) admit?.();
      };
    },
  };
}

function tooMany(): AppError {
  return new AppError("service_unavailable", "too many complete exports are under way; try again", {
    retryAfterSeconds: RETRY_SECONDS,
  });
}
