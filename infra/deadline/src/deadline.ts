import { AsyncLocalStorage } from "node:async_hooks";
import { AppError } from "@tidemark/errors";

type Scope = { readonly deadlineMs: number; open: boolean };

const scopes = new AsyncLocalStorage<Scope>();

/**
 * Runs `work` so that everything it awaits knows when its caller stops waiting, in milliseconds since the epoch; without a deadline, so that it
 * knows none. What `work` leaves running when it has settled is nobody's request any more, and has no deadline.
 */
export async function underDeadline<T>(deadlineMs: number | undefined, work: () => Promise<T>): Promise<T> {
  const scope: Scope = { deadlineMs: deadlineMs ?? Number.POSITIVE_INFINITY, open: deadlineMs !== undefined };
  try {
    return await scopes.run(scope, work);
  } finally {
    scope.open = false;
  }
}

/** Returns when the caller of the work that runs here stops waiting, in milliseconds since the epoch; undefined for work of a process itself. */
export function currentDeadlineMs(): number | undefined {
  const scope = scopes.getStore();
  return scope?.open === true ? scope.deadlineMs : undefined;
}

/** Returns the error for a call whose time is over. */
export function deadlineExceeded(): AppError {
  return new AppError("deadline_exceeded", "the request could not be completed in time; try again", {
    retryAfterSeconds: 1,
  });
}
