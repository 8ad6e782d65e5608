import { AsyncLocalStorage } from "node:async_hooks";
import { AppError } from "@tidemark/errors";

type Scope = { readonly deadlineMs: number; readonly left: AbortSignal | undefined; open: boolean };

const scopes = new AsyncLocalStorage<Scope>();

/**
 * Runs `work` so that everything it awaits knows when its caller stops waiting, in milliseconds since the epoch; without a deadline, so that it
 * knows none. `left` aborts when the caller leaves before. What `work` leaves running when it has settled is nobody's request any more, and has no deadline.
 */
export async function underDeadline<T>(
  deadlineMs: number | undefined,
  work: () => Promise<T>,
  left?: AbortSignal,
): Promise<T> {
  const scope: Scope = { deadlineMs: deadlineMs ?? Number.POSITIVE_INFINITY, left, open: deadlineMs !== undefined };
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

/** Ends work that goes on in steps when nobody waits for it any more: call it between the steps. @throws deadline_exceeded */
export function stopIfOver(): void {
  const scope = scopes.getStore();
  if (scope?.open === true && (scope.left?.aborted === true || scope.deadlineMs <= Date.now()))
    throw deadlineExceeded();
}

/** Calls `end` once when nobody waits any more for the work that runs here; returns what takes that back. */
export function whenOver(end: () => void): () => void {
  const scope = scopes.getStore();
  if (scope?.open !== true) return () => {};
  const forget = (): void => {
    clearTimeout(timer);
    scope.left?.removeEventListener("abort", over);
  };
  const over = (): void => {
    forget();
    end();
  };
  const timer = setTimeout(over, Math.max(0, scope.deadlineMs - Date.now()));
  scope.left?.addEventListener("abort", over);
  return forget;
}

/** Returns the error for a call whose time is over. */
export function deadlineExceeded(): AppError {
  return new AppError("deadline_exceeded", "the request could not be completed in time; try again", {
    retryAfterSeconds: 1,
  });
}
