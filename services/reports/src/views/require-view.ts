import { AppError, badRequest, notFound } from "@tidemark/errors";
import type { ViewState } from "./views.sql.ts";

/** What errors call a view. */
export const VIEW = "workspace view";

/**
 * Requires that a view is as the caller knows it. A deleted one is not: of several callers who know the same view, one changes it and all others learn
 * that it was changed.
 * @throws not_found when the user never had it, conflict
 */
export function requireUnchanged(state: ViewState | undefined, expectedUpdatedAt: string): void {
  if (state === undefined) throw notFound(VIEW);
  if (state.deletedAt === null && state.updatedAt === expectedUpdatedAt) return;
  throw new AppError("conflict", "the workspace view was changed in the meantime");
}

/** @throws bad_request for a moment that is missing */
export function requireExpected(expectedUpdatedAt: string | undefined): string {
  if (expectedUpdatedAt !== undefined && expectedUpdatedAt !== "") return expectedUpdatedAt;
  throw badRequest("expected_updated_at is required", "expected_updated_at");
}
