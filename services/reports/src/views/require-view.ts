import { AppError, badRequest, notFound } from "@tidemark/errors";
import type { ViewState } from "./views.sql.ts";

/** The name of a view in errors. */
export const VIEW = "workspace view";

/**
 * Requires that a view is the user's.
 * @throws not_found when the user never had it, or another user's view is not shared or no longer exists; forbidden for one that another user shares
 */
export function requireOwn(state: ViewState | undefined, userId: string): ViewState {
  if (state?.ownerUserId === userId) return state;
  if (state?.visibility !== "organization" || state.deletedAt !== null) throw notFound(VIEW);
  throw new AppError("forbidden", "only its owner changes a shared workspace view");
}

const ADMINS: ReadonlySet<string> = new Set(["owner", "admin"]);

/**
 * Requires that a user may delete a view: the own ones, and as an owner or admin of the organization the shared ones of all users, so that views of people
 * who left do not stay forever. A deleted one is judged as it was.
 * @throws not_found, forbidden as `requireOwn` does
 */
export function requireDeletable(
  state: ViewState | undefined,
  user: { readonly userId: string; readonly role: string },
): ViewState {
  return state?.visibility === "organization" && ADMINS.has(user.role) ? state : requireOwn(state, user.userId);
}

/**
 * Requires that a view is unchanged since the caller read it. A deleted one is not: of several callers who know the same view, one changes it and all others
 * learn that it was changed.
 * @throws conflict
 */
export function requireUnchanged(state: ViewState, expectedUpdatedAt: string): void {
  if (state.deletedAt === null && state.updatedAt === expectedUpdatedAt) return;
  throw new AppError("conflict", "the workspace view was changed in the meantime");
}

/** @throws bad_request for a moment that is missing */
export function requireExpected(expectedUpdatedAt: string | undefined): string {
  if (expectedUpdatedAt !== undefined && expectedUpdatedAt !== "") return expectedUpdatedAt;
  throw badRequest("expected_updated_at is required", "expected_updated_at");
}
