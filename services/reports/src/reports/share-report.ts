import { issueCredential } from "@tidemark/credentials";
import { auditActor, callerOf, pathId } from "@tidemark/requests";
import type { ReportsDeps, ReportsHandlers } from "../deps.ts";
import { encodeReport } from "./encode-report.ts";
import { recordShare } from "./audit.sql.ts";
import { findReport } from "./reports.sql.ts";
import { lockSameCaller } from "./lock-same-caller.ts";
import { lockForChange, REPORT } from "./require-report.ts";
import { storeShare } from "./shares.sql.ts";

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
