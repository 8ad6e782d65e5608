import { AppError, notFound } from "@tidemark/errors";
import { type Caller, callerOf, isUuid } from "@tidemark/requests";
import type { Call } from "@tidemark/rpc";
import type { ReportsDeps, ReportsHandlers } from "../deps.ts";
import { findReport, lockReport, type LockedReport, type ReportRow } from "./reports.sql.ts";
import { isValidShare, readShareToken } from "./report.rules.ts";
import { findPublic, findShared, readFrozen } from "./shares.sql.ts";
import type { Tx } from "@tidemark/pg";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ReportSchema } from "@tidemark/proto/reports/v1/reports";

type Deps = Pick<ReportsDeps, "db" | "now" | "shareTtlSeconds">;

/**
 * ReportsService.GetReport. Readers of the organization get the whole report, even if it is public.
 * @throws not_found, unauthenticated for a caller without an identity, which does not reveal whether the report exists
 */
export function getReport(deps: Deps): ReportsHandlers["getReport"] {
  return async ({ reportId, shareToken }, call) => {
    const id = reportId.toLowerCase();
    const caller = knownCaller(call);
    if (isUuid(id)) {
      const own = caller === undefined ? undefined : await readOwn(deps, caller, id);
      if (own !== undefined) return { report: encodeReport(own) };
      const shared = await readShared(deps, shareToken, id);
      if (shared !== undefined) return { report: encodeForOutsiders(shared) };
      const open = await readPublic(deps, id);
      if (open !== undefined) return { report: withoutExtent(encodeForOutsiders(open)) };
    }
    if (caller === undefined) throw new AppError("unauthenticated", "missing bearer token");
    throw notFound(REPORT);
  };
}

/** ReportsService.GetSharedReport. @throws not_found for a token that is unknown, replaced, too old, or of a deleted report */
export function getSharedReport(deps: Deps): ReportsHandlers["getSharedReport"] {
  return async ({ shareToken }) => {
    const row = await readShared(deps, shareToken);
    if (row === undefined) throw notFound(REPORT);
    return { report: encodeForOutsiders(row) };
  };
}

/** ReportsService.OpenSharedData. @throws not_found, also for a token that opens only the blocks */
export function openSharedData(deps: Deps): ReportsHandlers["openSharedData"] {
  return async ({ shareToken }) => {
    const row = await readShared(deps, shareToken);
    if (row?.shareExtent !== "data") throw notFound(REPORT);
    const { id, orgId, shareFrozen } = row;
    const frozen = shareFrozen
      ? await deps.db.readTenant(orgId, (tx) => readFrozen(tx, orgId, id), { plans: "walks" })
      : undefined;
    // It ended after the report was read.
    if (shareFrozen && frozen === undefined) throw notFound(REPORT);
    return {
      shareId: row.shareId!,
      orgId,
      projectId: row.projectId ?? "",
      blocksJson: utf8.encode(row.blocks),
      frozenJson: frozen === undefined ? undefined : utf8.encode(frozen),
    };
  };
}

function knownCaller(call: Call): Caller | undefined {
  return (call.identity?.orgId ?? "") === "" ? undefined : callerOf(call);
}

async function readOwn({ db }: Deps, caller: Caller, id: string): Promise<ReportRow | undefined> {
  const { orgId } = caller;
  const row = await db.readTenant(orgId, (tx) => findReport(tx, orgId, id), { plans: "walks" });
  return row !== undefined && canSeeReport(caller, row) ? row : undefined;
}

/** Reads the report that a token opens; if an id is named, it must match. Always reads the database, so a replaced token ends immediately. */
async function readShared(deps: Deps, text: string, id?: string): Promise<ReportRow | undefined> {
  const token = readShareToken(text);
  if (token === undefined) return undefined;
  const { db, now, shareTtlSeconds } = deps;
  const found = await findShared(db, token.id);
  if (found === undefined || !isValidShare(token, found, shareTtlSeconds, now())) return undefined;
  if (id !== undefined && id !== found.id) return undefined;
  const row = await db.readTenant(found.orgId, (tx) => findReport(tx, found.orgId, found.id), { plans: "walks" });
  // It may have been replaced in between.
  return row?.shareId === token.id ? row : undefined;
}

async function readPublic({ db }: Deps, id: string): Promise<ReportRow | undefined> {
  const orgId = await findPublic(db, id);
  if (orgId === undefined) return undefined;
  const row = await db.readTenant(orgId, (tx) => findReport(tx, orgId, id), { plans: "walks" });
  return row?.visibility === "public" ? row : undefined;
}

/** The name of a report in errors. */
export const REPORT = "report";

/** Returns whether a caller may know of a report. A caller of one project knows of no report that belongs to none. */
function canSeeReport(
  { orgId, projectId }: Pick<Caller, "orgId" | "projectId">,
  row: { readonly orgId: string; readonly projectId: string | null },
): boolean {
  return row.orgId === orgId && (projectId === undefined || row.projectId === projectId);
}

/** Locks a report for a change. @throws not_found unless it exists and the caller may know of it */
export async function lockForChange(tx: Tx, caller: Caller, reportId: string): Promise<LockedReport> {
  const owner = await lockReport(tx, caller.orgId, reportId);
  if (owner === undefined || !canSeeReport(caller, owner)) throw notFound(REPORT);
  return owner;
}

type ReportMessage = MessageInitShape<typeof ReportSchema>;

const utf8 = new TextEncoder();

/** Encodes a report for readers of its organization. The token is present only if it was just created: it is not stored. */
export function encodeReport(row: ReportRow, shareToken?: string): ReportMessage {
  const { projectId, description, authorUserId, shareIssuedAt, shareExtent, deletedAt, blocks, ...rest } = row;
  const { shareId: _shareId, ...same } = rest;
  return {
    ...same,
    projectId: projectId ?? undefined,
    description: description ?? undefined,
    authorUserId: authorUserId ?? undefined,
    shareToken,
    shareTokenIssuedAt: shareIssuedAt ?? undefined,
    shareExtent: shareExtent ?? undefined,
    deletedAt: deletedAt ?? undefined,
    blocksJson: utf8.encode(blocks),
  };
}

/** Encodes a report for all other readers, without its owner. */
function encodeForOutsiders(row: ReportRow): ReportMessage {
  return { ...encodeReport(row), orgId: "", authorUserId: undefined };
}

/** Leaves out what the share token opens, for readers without it. */
function withoutExtent(report: ReportMessage): ReportMessage {
  return { ...report, shareExtent: undefined, shareFrozen: false };
}
