import { issueCredential } from "@tidemark/credentials";
import { auditActor, callerOf, pathId } from "@tidemark/requests";
import type { ReportsDeps, ReportsHandlers } from "../deps.ts";
import { encodeReport, lockForChange, REPORT } from "./get-report.ts";
import { lockCallerRights, recordShare, storeShare } from "./shares.sql.ts";
import { findReport } from "./reports.sql.ts";
import { AppError } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import { CallerKind, type Identity } from "@tidemark/proto/common/v1/common";

type Deps = Pick<ReportsDeps, "db" | "randomBytes">;

/** ReportsService.ShareReport: the previous token is no longer valid. @throws not_found, unauthenticated, forbidden */
export function shareReport({ db, randomBytes }: Deps): ReportsHandlers["shareReport"] {
  return (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const id = pathId(request.reportId, REPORT);
    return db.withTenant(orgId, async (tx) => {
      await lockSameCaller(tx, call.identity!);
      await lockForChange(tx, caller, id);
      const token = issueCredential("share", randomBytes);
      await storeShare(tx, orgId, id, token);
      await recordShare(tx, auditActor(call), { reportId: id, requestId: call.requestId });
      return { report: encodeReport((await findReport(tx, orgId, id))!, token.text) };
    });
  };
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
