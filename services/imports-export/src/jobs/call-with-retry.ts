import { isAppError } from "@tidemark/errors";
import type { Call } from "@tidemark/rpc";

/** Calls a service for a commit, and retries while it is not available. An error that it throws ends the commit for now. */
export type CallWithRetry = <T>(request: (call: Call) => Promise<T>) => Promise<T>;

/** Returns whether an error says nothing about the request itself, so that a retry may succeed later. */
export function isPassing(error: unknown): boolean {
  if (!isAppError(error)) return false;
  return ["warehouse_unavailable", "service_unavailable", "deadline_exceeded", "idempotency_in_progress"].includes(
    error.reason,
  );
}

/** The first wait after a refusal, which doubles, and the longest one, in milliseconds. */
const WAIT_MS = { first: 50, longest: 2000 };
/** Refusals after which the commit is left to the next process that takes it. */
const REFUSALS_MAX = 12;

/** Creates the calls of a commit. `isOver` says that its process stops or has lost the lease. */
export function createCallWithRetry(newCall: () => Call, isOver: () => boolean): CallWithRetry {
  return async (request) => {
    for (let refusals = 0; ; refusals++) {
      try {
        return await request(newCall());
      } catch (error) {
        if (!isPassing(error) || refusals >= REFUSALS_MAX || isOver()) throw error;
        const ms = Math.min(WAIT_MS.first * 2 ** refusals, WAIT_MS.longest);
        await new Promise((resolve) => setTimeout(resolve, ms));
      }
    }
  };
}
