import { AsyncLocalStorage } from "node:async_hooks";
import { AppError } from "@tidemark/errors";

/** The caller that waits for work. */
export type Caller = {
  /** Aborts when the caller leaves before the deadline. */
  readonly left?: AbortSignal | undefined;
  /** The organization that the work is for; undefined where it is for none. */
  readonly orgId?: string | undefined;
};

type Scope = Caller & { readonly deadlineMs: number; open: boolean };

const scopes = new AsyncLocalStorage<Scope>();

/**
 * Runs `work` so that everything it awaits knows its caller, and when the caller stops waiting, in milliseconds since the epoch; without a deadline, so that
 * it knows neither. Work that is still running after `work` has settled no longer belongs to a request.
 */
export async function underDeadline<T>(
  deadlineMs: number | undefined,
  work: () => Promise<T>,
  { left, orgId }: Caller = {},
): Promise<T> {
  const scope: Scope = {
    deadlineMs: deadlineMs ?? Number.POSITIVE_INFINITY,
    left,
    orgId,
    open: deadlineMs !== undefined,
  };
  try {
    return await scopes.run(scope, work);
  } finally {
    scope.open = false;
  }
}

/** Returns when the caller of the work that runs here stops waiting, in milliseconds since the epoch; undefined for the process's own work. */
export function currentDeadlineMs(): number | undefined {
  const scope = scopes.getStore();
  return scope?.open === true ? scope.deadlineMs : undefined;
}

/** Returns the organization that the work which runs here is for; undefined for work without an organization. */
export function currentOrg(): string | undefined {
  const scope = scopes.getStore();
  return scope?.open === true ? scope.orgId : undefined;
}

/** Ends work that runs in steps when no caller waits for it any more: call it between the steps. @throws deadline_exceeded */
export function stopIfOver(): void {
  const scope = scopes.getStore();
  if (scope?.open === true && (scope.left?.aborted === true || scope.deadlineMs <= Date.now()))
    throw deadlineExceeded();
}

/** Calls `end` once when no caller waits any more for the work that runs here; returns a function that cancels that. */
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
