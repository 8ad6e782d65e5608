import { AppError } from "@tidemark/errors";
import { callerOf } from "@tidemark/requests";
import type { ImportsDeps, ImportsHandlers } from "../deps.ts";
import { encodeJob } from "./encode-job.ts";
import { cancelLockedJob, emptyChunks } from "./jobs.sql.ts";
import { importId, partsOf, requireJob } from "./require-job.ts";

const CANCELLABLE = ["created", "uploading", "dry_run_ready", "failed"];

/** ImportsService.CancelJob. If a cancel and a commit are sent simultaneously, one wins: both lock the row. @throws not_found, conflict */
export function cancelJob({ db }: Pick<ImportsDeps, "db">): ImportsHandlers["cancelJob"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const id = importId(request.importId);
    const job = await db.withTenant(caller.orgId, async (tx) => {
      const { status } = await requireJob(tx, caller, id, "lock");
      if (!CANCELLABLE.includes(status)) throw new AppError("conflict", `a job that is ${status} cannot be cancelled`);
      await emptyChunks(tx, caller.orgId, id);
      const row = await cancelLockedJob(tx, caller.orgId, id);
      return encodeJob(row, await partsOf(tx, row));
    });
    return { job };
  };
}
