import { AppError } from "@tidemark/errors";
import { callerOf, refuseUnpaid } from "@tidemark/requests";
import type { ImportsDeps, ImportsHandlers } from "../deps.ts";
import { encodeJob } from "../jobs/encode-job.ts";
import { importId, partsOf, requireJob } from "../jobs/require-job.ts";
import { awaitCommit } from "./await-commit.ts";
import { requestCommit } from "./request-commit.ts";

/** Milliseconds of work after which a caller who asked for an early answer gets one. */
const ASYNC_AFTER_MS = 2000;

/**
 * ImportsService.CommitJob. Jobs of an organization are committed in the order of the requests; a job that is already being committed is
 * waited for. @throws not_found, conflict, payment_required, the error that ends the commit, service_unavailable
 */
export function commitJob({ db, wakeRelay }: Pick<ImportsDeps, "db" | "wakeRelay">): ImportsHandlers["commitJob"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const id = importId(request.importId);
    const isNew = await db.withTenant(orgId, async (tx) => {
      const job = await requireJob(tx, caller, id, "lock");
      const { status } = job;
      if (status === "committed" || status === "committing") return false;
      if (status !== "dry_run_ready" && status !== "failed") {
        throw new AppError("conflict", `a job that is ${status} cannot be committed`);
      }
      refuseUnpaid(caller);
      await requestCommit(tx, job, call.identity!);
      return true;
    });
    if (isNew) wakeRelay();
    await awaitCommit(db, call, { orgId, id }, request.respondAsync ? ASYNC_AFTER_MS : undefined);
    const job = await db.readTenant(orgId, async (tx) => {
      const row = await requireJob(tx, caller, id, "read");
      return encodeJob(row, await partsOf(tx, row));
    });
    return { job };
  };
}
