import { AppError, isReason } from "@tidemark/errors";
import { callerOf, refuseUnpaid } from "@tidemark/requests";
import { toBinary } from "@bufbuild/protobuf";
import { putOutbox, type Db, type Tx } from "@tidemark/pg";
import { IdentitySchema, type Identity } from "@tidemark/proto/common/v1/common";
import type { Call } from "@tidemark/rpc";
import type { ImportsDeps, ImportsHandlers } from "../deps.ts";
import { encodeJob, importId, partsOf, requireJob } from "../jobs/get-job.ts";
import { findJob, type JobRow } from "../jobs/jobs.sql.ts";
import { beginCommit, type JobName } from "./commit.sql.ts";
import { COMMIT_SUBJECT } from "./committer.ts";

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

/** Begins the commit of a job that this transaction has locked: its row and the message that wakes a worker are written in one transaction. */
export async function requestCommit(
  tx: Tx,
  locked: Pick<JobRow, "orgId" | "id" | "dedupePolicy">,
  identity: Identity,
): Promise<JobRow> {
  const { orgId, id } = locked;
  const job = await beginCommit(tx, locked, toBinary(IdentitySchema, identity));
  const payload = Buffer.from(JSON.stringify({ orgId, id } satisfies JobName));
  await putOutbox(tx, orgId, { service: "imports", subject: COMMIT_SUBJECT, payload });
  return job;
}

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
