import { AppError, notFound } from "@tidemark/errors";
import { callerOf, isUuid, type Caller } from "@tidemark/requests";
import type { Call } from "@tidemark/rpc";
import type { ReportsDeps, ReportsHandlers } from "../deps.ts";
import { encodeForOutsiders, encodeReport } from "./encode-report.ts";
import { findReport, type ReportRow } from "./reports.sql.ts";
import { canSeeReport, REPORT } from "./require-report.ts";
import { isValidShare, readShareToken } from "./share-token.rules.ts";
import { findPublic, findShared } from "./shares.sql.ts";

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
      const open = (await readShared(deps, shareToken, id)) ?? (await readPublic(deps, id));
      if (open !== undefined) return { report: encodeForOutsiders(open) };
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
