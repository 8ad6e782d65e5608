import { REPORT_VISIBILITIES } from "@tidemark/limits";
import { admitChange, callerOf, isUuid, pathId, throwFault, type Caller, auditActor } from "@tidemark/requests";
import { AppError, badRequest } from "@tidemark/errors";
import type { UpdateReportRequest } from "@tidemark/proto/reports/v1/reports";
import { enterProject } from "../deletion/deleted-projects.sql.ts";
import { requireText, textBytes, textOrNull } from "../fields/text.rules.ts";
import type { ReportsDeps, ReportsHandlers } from "../deps.ts";
import { encodeReport, lockForChange, REPORT } from "./get-report.ts";
import { countReport } from "./report-list.sql.ts";
import { readBlocks, readExtent, requireVisibility } from "./report.rules.ts";
import { changeReport, findReport, insertReport, markDeleted, type ReportChange } from "./reports.sql.ts";
import { issueCredential } from "@tidemark/credentials";
import { lockCallerRights, readFrozen, recordShare, removeShare, storeShare } from "./shares.sql.ts";
import type { Tx } from "@tidemark/pg";
import { CallerKind, type Identity } from "@tidemark/proto/common/v1/common";

/** ReportsService.CreateReport. @throws bad_request, forbidden, plan_limit_exceeded, not_found for a deleted project */
export function createReport({
  db,
  storageGate,
  newId,
}: Pick<ReportsDeps, "db" | "storageGate" | "newId">): ReportsHandlers["createReport"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const stored = readBlocks(request.blocksJson);
    const report = {
      id: newId(),
      title: requireText(request.title, "title"),
      description: textOrNull(request.description, "description"),
      visibility: requireVisibility(request.visibility || REPORT_VISIBILITIES[0]),
      projectId: chooseProject(caller, request.projectId),
      authorUserId: call.identity?.userId || null,
    };
    await storageGate.admit(caller, textBytes(report.title, report.description, stored.blocks));
    return db.withTenant(orgId, async (tx) => {
      await enterProject(tx, orgId, report.projectId);
      await insertReport(tx, orgId, report, stored);
      await countReport(tx, orgId, report.projectId, 1);
      const row = await findReport(tx, orgId, report.id);
      return { report: encodeReport(row!) };
    });
  };
}

/**
 * ReportsService.UpdateReport. A caller who may not read data changes no blocks of a report whose link opens the data of its panels: panels of its choice
 * would show them to others.
 * @throws not_found, bad_request, forbidden, plan_limit_exceeded
 */
export function updateReport({
  db,
  storageGate,
}: Pick<ReportsDeps, "db" | "storageGate">): ReportsHandlers["updateReport"] {
  return (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const id = pathId(request.reportId, REPORT);
    return db.withTenant(orgId, async (tx) => {
      const { shareExtent } = await lockForChange(tx, caller, id);
      throwFault(request.bodyFault);
      const change = readChange(request);
      if (shareExtent === "data" && change.stored !== undefined) requireReader(caller);
      const bytes = textBytes(change.title, change.description, change.stored?.blocks);
      await admitChange(storageGate, caller, bytes, async () => {
        const before = (await findReport(tx, orgId, id))!;
        return textBytes(
          change.title === undefined ? "" : before.title,
          change.description === undefined ? "" : before.description,
          change.stored === undefined ? "" : before.blocks,
        );
      });
      await changeReport(tx, orgId, id, change);
      return { report: encodeReport((await findReport(tx, orgId, id))!) };
    });
  };
}

function readChange({ title, description, visibility, blocksJson }: UpdateReportRequest): ReportChange {
  if ([title, description, visibility, blocksJson].every((part) => part === undefined)) {
    throw badRequest("one of title, description, visibility and blocks is required");
  }
  return {
    title: title === undefined ? undefined : requireText(title, "title"),
    description: description === undefined ? undefined : textOrNull(description, "description"),
    visibility: visibility === undefined ? undefined : requireVisibility(visibility),
    stored: blocksJson === undefined ? undefined : readBlocks(blocksJson),
  };
}

/** ReportsService.DeleteReport: its share token is invalid from then on. @throws not_found, also for a repeat */
export function deleteReport({ db }: Pick<ReportsDeps, "db">): ReportsHandlers["deleteReport"] {
  return (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const id = pathId(request.reportId, REPORT);
    return db.withTenant(orgId, async (tx) => {
      const { projectId } = await lockForChange(tx, caller, id);
      const row = (await findReport(tx, orgId, id))!;
      const deletedAt = await markDeleted(tx, orgId, id);
      await countReport(tx, orgId, projectId, -1);
      return { report: encodeReport({ ...row, deletedAt }) };
    });
  };
}

/** ReportsService.ShareReport: the previous token is no longer valid. @throws not_found, unauthenticated, bad_request, forbidden, plan_limit_exceeded */
export function shareReport({
  db,
  randomBytes,
  storageGate,
}: Pick<ReportsDeps, "db" | "randomBytes" | "storageGate">): ReportsHandlers["shareReport"] {
  return (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const id = pathId(request.reportId, REPORT);
    return db.withTenant(orgId, async (tx) => {
      await lockSameCaller(tx, call.identity!);
      await lockForChange(tx, caller, id);
      throwFault(request.bodyFault);
      const extent = readExtent(request.extent, request.frozenJson?.length);
      if (extent === "data") requireReader(caller);
      const frozen = request.frozenJson === undefined ? undefined : utf8.decode(request.frozenJson);
      if (frozen !== undefined) {
        await admitChange(storageGate, caller, textBytes(frozen), async () =>
          textBytes((await readFrozen(tx, orgId, id)) ?? ""),
        );
      }
      const token = issueCredential("share", randomBytes);
      await storeShare(tx, orgId, id, { ...token, extent, frozen });
      const action = extent === "data" ? "report.data_shared" : "report.shared";
      await recordShare(tx, auditActor(call), { action, reportId: id, requestId: call.requestId });
      return { report: encodeReport((await findReport(tx, orgId, id))!, token.text) };
    });
  };
}

/** ReportsService.EndShare. It may be repeated. @throws not_found */
export function endShare({ db }: Pick<ReportsDeps, "db">): ReportsHandlers["endShare"] {
  return (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const id = pathId(request.reportId, REPORT);
    return db.withTenant(orgId, async (tx) => {
      await lockForChange(tx, caller, id);
      if (await removeShare(tx, orgId, id))
        await recordShare(tx, auditActor(call), {
          action: "report.share_ended",
          reportId: id,
          requestId: call.requestId,
        });
      return { report: encodeReport((await findReport(tx, orgId, id))!) };
    });
  };
}

const utf8 = new TextDecoder();

/** The scope of callers who may read the data of runs. */
const READ_SCOPE = "export:read";

/** @throws forbidden for a caller who may not read the data that a link opens */
function requireReader({ scopes }: Pick<Caller, "scopes">): void {
  if (scopes.includes(READ_SCOPE)) return;
  throw new AppError("forbidden", `a link that opens data needs a caller with the scope ${READ_SCOPE}`);
}

/**
 * Requires that a caller may still do what it could when the request began, until the transaction ends: a gateway's copy of its credential may be a second
 * old, or ten, and a credential that has ended must not leave a link behind.
 * @throws unauthenticated, forbidden
 */
async function lockSameCaller(tx: Tx, identity: Identity): Promise<void> {
  const { orgId, kind, credentialId, role, scopes, projectId } = identity;
  const isSession = kind === CallerKind.SESSION;
  const now = await lockCallerRights(tx, orgId, isSession ? "session" : "api_key", credentialId);
  if (now === undefined) throw new AppError("unauthenticated", "invalid or expired credentials");
  const isSame = isSession
    ? now.role === role
    : (now.project_id ?? "") === projectId && new Set(now.scopes).symmetricDifference(new Set(scopes)).size === 0;
  if (!isSame) throw new AppError("forbidden", "the rights of this credential have changed; try again");
}

/**
 * Returns the project of a new report: a caller of one project writes there and nowhere else.
 * @throws bad_request, forbidden
 */
function chooseProject(caller: Pick<Caller, "projectId">, wanted: string | undefined): string | null {
  if (wanted === undefined || wanted === "") return caller.projectId ?? null;
  const projectId = wanted.toLowerCase();
  if (!isUuid(projectId)) throw badRequest("project_id must be a UUID", "project_id");
  if (caller.projectId !== undefined && caller.projectId !== projectId) {
    throw new AppError("forbidden", "this api key may only write reports of its own project");
  }
  return projectId;
}
