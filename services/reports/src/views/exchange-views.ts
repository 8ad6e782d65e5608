import { badRequest, notFound } from "@tidemark/errors";
import { IMPORT_STRATEGIES, VIEW_VISIBILITIES } from "@tidemark/limits";
import type { Tx } from "@tidemark/pg";
import { admitChange, isUuid, refuseUnpaid, callerOf, pathId, requireRows } from "@tidemark/requests";
import type { ImportViewRequest } from "@tidemark/proto/reports/v1/views";
import { enterNamedProject, seeDeleted } from "../deletion/deleted-projects.sql.ts";
import { requireText, textBytes, textOrNull } from "../fields/text.rules.ts";
import type { ReportsDeps, ReportsHandlers } from "../deps.ts";
import { ownerOf } from "../owner/owner-of.ts";
import { encodeView, requireExpected, requireOwn, requireUnchanged, VIEW } from "./get-view.ts";
import { readEnvelope, readGivenView, writeEnvelope } from "./envelope.rules.ts";
import { countNewView, requireRoomForView, countRestoredView } from "./view-list.sql.ts";
import {
  changeView,
  insertView,
  lockView,
  readViewState,
  viewBytes,
  type ViewContent,
  type ViewRow,
  findView,
  insertRestoredView,
  readViewsOfUser,
} from "./views.sql.ts";
import { CallerKind } from "@tidemark/proto/common/v1/common";
import type { ReportsArchiveService } from "@tidemark/proto/reports/v1/archive";
import type { Handlers } from "@tidemark/rpc";
import type { ReportsRestoreService } from "@tidemark/proto/reports/v1/restore";
import { readPayload, readVisibility } from "./payload.rules.ts";

/** The action of an import: creates a view, or replaces one that is unchanged since the caller read it. */
type ImportAction =
  | { readonly action: "create" }
  | { readonly action: "replace"; readonly id: string; readonly expected: string };

/**
 * ReportsService.ImportView. A dry run is refused for the same reasons and changes nothing.
 * @throws unauthenticated, forbidden, payment_required, plan_limit_exceeded, bad_request, not_found, conflict
 */
export function importView({
  db,
  storageGate,
  newId,
}: Pick<ReportsDeps, "db" | "storageGate" | "newId">): ReportsHandlers["importView"] {
  return async (request, call) => {
    const { orgId, userId, caller } = ownerOf(call);
    const { dryRun } = request;
    if (!dryRun) refuseUnpaid(caller);
    const { warnings, ...exported } = readEnvelope(request.exportedJson);
    const content: Content = {
      name: request.name === undefined ? exported.name : requireText(request.name, "name"),
      project: request.project === undefined ? exported.project : textOrNull(request.project, "project"),
      payload: exported.payload,
    };
    const wish = readWish(request);
    const owner = { orgId, userId };
    if (!dryRun) {
      await admitChange(storageGate, caller, textBytes(content.name, content.project, content.payload), () =>
        wish.action === "create"
          ? Promise.resolve(0)
          : db.readTenant(orgId, (tx) => viewBytes(tx, orgId, wish.id, content)),
      );
    }
    const row = dryRun
      ? await db.readTenant(orgId, (tx) => requirePossible(tx, owner, wish, content))
      : await db.withTenant(orgId, (tx) => store(tx, owner, wish, content, newId));
    const { name, project, payload } = content;
    return {
      dryRun,
      action: wish.action,
      name,
      project: project ?? undefined,
      payloadBytes: Buffer.byteLength(payload),
      warnings: [...warnings],
      view: row === undefined ? undefined : encodeView(row, userId),
    };
  };
}

function readWish({ conflictStrategy, existingViewId, expectedUpdatedAt }: ImportViewRequest): ImportAction {
  const action = IMPORT_STRATEGIES.find((known) => known === (conflictStrategy || IMPORT_STRATEGIES[0]));
  if (action === undefined) {
    throw badRequest(`conflict_strategy must be one of ${IMPORT_STRATEGIES.join(", ")}`, "conflict_strategy");
  }
  if (action === "create") return { action };
  const id = (existingViewId ?? "").toLowerCase();
  if (!isUuid(id)) throw badRequest("existing_view_id must be the id of a view", "existing_view_id");
  return { action, id, expected: requireExpected(expectedUpdatedAt) };
}

/** The content of a view from a file, or from the request instead. Neither contains its visibility. */
type Content = Omit<ViewContent, "visibility">;

type Owned = { readonly orgId: string; readonly userId: string };

async function requirePossible(
  tx: Tx,
  { orgId, userId }: Owned,
  wish: ImportAction,
  { project }: Content,
): Promise<undefined> {
  if (wish.action === "create") await requireRoomForView(tx, orgId, userId);
  else requireUnchanged(requireOwn(await readViewState(tx, orgId, wish.id), userId), wish.expected);
  await enterNamedProject(tx, orgId, project);
  return undefined;
}

async function store(
  tx: Tx,
  { orgId, userId }: Owned,
  wish: ImportAction,
  content: Content,
  newId: () => string,
): Promise<ViewRow> {
  if (wish.action === "create") {
    await enterNamedProject(tx, orgId, content.project);
    const made = await insertView(tx, orgId, userId, newId(), { ...content, visibility: VIEW_VISIBILITIES[0] });
    await countNewView(tx, orgId, userId);
    return made;
  }
  requireUnchanged(requireOwn(await lockView(tx, orgId, wish.id), userId), wish.expected);
  await enterNamedProject(tx, orgId, content.project);
  return changeView(tx, orgId, wish.id, { ...content, visibility: undefined });
}

const utf8 = new TextEncoder();

/** ReportsService.ExportView. @throws unauthenticated, forbidden, not_found */
export function exportView({ db, now }: Pick<ReportsDeps, "db" | "now">): ReportsHandlers["exportView"] {
  return async (request, call) => {
    const { orgId, userId } = ownerOf(call);
    const id = pathId(request.viewId, VIEW);
    const row = await db.readTenant(orgId, (tx) => findView(tx, orgId, userId, id), { plans: "walks" });
    if (row === undefined) throw notFound(VIEW);
    return { exportedJson: utf8.encode(writeEnvelope(row, now().toISOString())), name: row.name };
  };
}

/** ReportsService.ReadView. @throws unauthenticated, bad_request */
export function readView(): ReportsHandlers["readView"] {
  return async (request, call) => {
    callerOf(call);
    const { payload, warnings } = await readGivenView(request.viewJson);
    return { payloadJson: utf8.encode(payload), warnings: [...warnings] };
  };
}

/** ReportsArchiveService.ExportViews. */
export function exportViews({
  db,
}: Pick<ReportsDeps, "db">): Handlers<(typeof ReportsArchiveService)["method"]>["exportViews"] {
  return async function* (_request, call) {
    const { orgId, kind } = callerOf(call);
    const userId = call.identity?.userId ?? "";
    // A key has no views, and neither does a session that was made from a key.
    if (kind !== CallerKind.SESSION || userId === "") return;
    yield* db.streamTenant(
      orgId,
      async function* (tx) {
        for await (const row of readViewsOfUser(tx, orgId, userId)) yield { view: encodeView(row, userId) };
      },
      { plans: "walks" },
    );
  };
}

/** ReportsRestoreService.RestoreViews. @throws see restore.proto */
export function restoreViews({
  db,
}: Pick<ReportsDeps, "db">): Handlers<(typeof ReportsRestoreService)["method"]>["restoreViews"] {
  return async ({ views }, call) => {
    const { orgId, userId } = ownerOf(call);
    requireRows(views);
    const rows = views.map((view) => ({
      id: view.id,
      name: requireText(view.name, "name"),
      project: textOrNull(view.project, "project"),
      payload: readPayload(view.payloadJson),
      visibility: readVisibility(view.visibility),
      createdAt: view.createdAt,
      updatedAt: view.updatedAt,
    }));
    await db.withTenant(orgId, async (tx) => {
      await seeDeleted(tx);
      for (const row of rows) {
        if (await insertRestoredView(tx, orgId, userId, row)) await countRestoredView(tx, orgId, userId);
      }
    });
    return {};
  };
}
