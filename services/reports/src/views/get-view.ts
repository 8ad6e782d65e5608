import { AppError, badRequest, notFound } from "@tidemark/errors";
import { isUuid, pathId } from "@tidemark/requests";
import type { ReportsDeps, ReportsHandlers } from "../deps.ts";
import { ownerOf } from "../owner/owner-of.ts";
import { listViewRows, type ViewPosition, type ViewSummaryRow } from "./view-list.sql.ts";
import { findView, type ViewRow, type ViewState } from "./views.sql.ts";
import { VIEWS_PAGE_ROWS } from "@tidemark/limits";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ViewSchema, ViewSummarySchema } from "@tidemark/proto/reports/v1/views";
import { isInstant, readCursor, writeCursor } from "@tidemark/values";

/** ReportsService.GetView. @throws unauthenticated, forbidden, not_found */
export function getView({ db }: Pick<ReportsDeps, "db">): ReportsHandlers["getView"] {
  return async (request, call) => {
    const { orgId, userId } = ownerOf(call);
    const id = pathId(request.viewId, VIEW);
    const row = await db.readTenant(orgId, (tx) => findView(tx, orgId, userId, id), { plans: "walks" });
    if (row === undefined) throw notFound(VIEW);
    return { view: encodeView(row, userId) };
  };
}

/** ReportsService.ListViews. @throws unauthenticated, forbidden, bad_request */
export function listViews({ db }: Pick<ReportsDeps, "db">): ReportsHandlers["listViews"] {
  return async (request, call) => {
    const { orgId, userId } = ownerOf(call);
    const limit = Math.min(request.limit || VIEWS_PAGE_ROWS.default, VIEWS_PAGE_ROWS.max);
    const after = request.cursor === "" ? undefined : readViewCursor(request.cursor);
    // One more shows whether there is a next page.
    const page = { limit: limit + 1, after };
    const rows = await db.readTenant(orgId, (tx) => listViewRows(tx, orgId, userId, page), { plans: "walks" });
    const shown = rows.slice(0, limit);
    return {
      views: shown.map((row) => encodeSummary(row, userId)),
      nextCursor: rows.length > limit ? writeViewCursor(shown.at(-1)!) : "",
    };
  };
}

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

const utf8 = new TextEncoder();

/** Encodes a view with its payload, as a user reads it. */
export function encodeView(
  { project, payload, ...same }: ViewRow,
  userId: string,
): MessageInitShape<typeof ViewSchema> {
  const isOwner = same.ownerUserId === userId;
  return { ...same, project: project ?? undefined, payloadJson: utf8.encode(payload), isOwner };
}

/** Encodes a view of a list, as a user reads it. */
function encodeSummary(
  { project, ...same }: ViewSummaryRow,
  userId: string,
): MessageInitShape<typeof ViewSummarySchema> {
  return { ...same, project: project ?? undefined, isOwner: same.ownerUserId === userId };
}

const NAME_BYTES_MAX = 512;

/** Returns the cursor of the page after a view. It stays valid while views are added. */
export function writeViewCursor({ updatedAt, name, id }: ViewPosition): string {
  return writeCursor([updatedAt, name, id]);
}

/** Reads a cursor of this list. @throws bad_request */
export function readViewCursor(cursor: string): ViewPosition {
  const [updatedAt, name, id] = readCursor(cursor, 3) ?? [];
  if (isInstant(updatedAt) && typeof name === "string" && typeof id === "string" && isUuid(id)) {
    if (!name.includes("\0") && Buffer.byteLength(name) <= NAME_BYTES_MAX) return { updatedAt, name, id };
  }
  throw badRequest("cursor is not a cursor of this list", "cursor");
}
