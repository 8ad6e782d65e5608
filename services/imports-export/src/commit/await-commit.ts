import { AppError, isReason } from "@tidemark/errors";
import type { Db } from "@tidemark/pg";
import type { Call } from "@tidemark/rpc";
import { findJob, type JobRow } from "../jobs/jobs.sql.ts";

/** Milliseconds between two polls, at first and at most. */
const LOOK_MS = { first: 10, longest: 250 };
/** A call is answered this many milliseconds before its deadline. */
const MARGIN_MS = 500;

/**
 * Waits until a commit has ended and returns its job; or, from `asyncAfterMs` on, the job in its current state.
 * @throws the error that ended it; service_unavailable when the call's time is over, while the work goes on
 */
export async function awaitCommit(
  db: Db,
  call: Call,
  { orgId, id }: { readonly orgId: string; readonly id: number },
  asyncAfterMs = Infinity,
): Promise<JobRow> {
  const begun = Date.now();
  for (let ms = LOOK_MS.first; ; ms = Math.min(ms * 1.5, LOOK_MS.longest)) {
    const job = (await db.readTenant(orgId, (tx) => findJob(tx, orgId, id)))!;
    if (job.status === "failed") throw errorOf(job);
    if (job.status !== "committing") return job;
    if (Date.now() - begun >= asyncAfterMs) return job;
    if (Date.now() + ms > call.deadlineMs - MARGIN_MS) {
      throw new AppError("service_unavailable", `import ${id} is not committed yet; its commit goes on`, {
        retryAfterSeconds: 2,
      });
    }
    await new Promise((resolve) => setTimeout(resolve, ms));
  }
}

function errorOf({ errorCode, errorMessage }: JobRow): AppError {
  const reason = errorCode ?? "";
  return new AppError(isReason(reason) ? reason : "internal", errorMessage ?? "the import failed");
}
