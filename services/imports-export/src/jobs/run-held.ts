import { underLease } from "@tidemark/work";
import type { Db, Tx } from "@tidemark/pg";
import type { Log } from "@tidemark/telemetry";
import { isAppError } from "@tidemark/errors";
import type { Call } from "@tidemark/rpc";
import { knownFault, type JobFault } from "./job.rules.ts";

/** How long a process may be silent about an import or a restore before another process resumes it. */
export const LEASE_SECONDS = 15;

/** A job that this process has just taken. */
type HeldWork = {
  readonly orgId: string;
  /** For logs: the kind of the job, and its name. */
  readonly what: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly renew: (tx: Tx, seconds: number) => Promise<boolean>;
  /** Works on the job until it has ended or `isOver` says so. Resolves to whether it has ended. */
  readonly work: (isOver: () => boolean) => Promise<boolean>;
  /** Ends the job as failed. Resolves to whether it has ended here. */
  readonly fail: (tx: Tx, fault: JobFault) => Promise<boolean>;
  /** Names the faults that only jobs of this kind have. */
  readonly faultOf?: (error: unknown) => JobFault | undefined;
};

/**
 * Works on a job under its lease. An error that only says that a service was not available leaves the job to a later try; any other ends it. Resolves to
 * true if the job has ended here, with success or failure. Does not reject.
 */
export async function runHeld(
  { db, log }: { readonly db: Db; readonly log: Pick<Log, "warn"> },
  { orgId, what, fields, renew, work, fail, faultOf }: HeldWork,
  isStopped: () => boolean,
): Promise<boolean> {
  const lease = {
    seconds: LEASE_SECONDS,
    renew: (seconds: number) => db.withTenant(orgId, (tx) => renew(tx, seconds)),
  };
  try {
    return await underLease(lease, isStopped, async (isOver) => {
      try {
        return await work(isOver);
      } catch (error) {
        if (isPassing(error)) throw error;
        const fault = faultOf?.(error) ?? knownFault(error);
        if (fault === undefined) log.warn(`${what} failed unexpectedly`, { org_id: orgId, ...fields, error });
        const unknown = { code: "internal", message: `${what} failed unexpectedly`, position: null };
        return db.withTenant(orgId, (tx) => fail(tx, fault ?? unknown));
      }
    });
  } catch (error) {
    log.warn(`${what} was interrupted; it goes on later`, { org_id: orgId, ...fields, error });
    return false;
  }
}

/** Calls a service for a commit, and retries while it is not available. An error that it throws ends the commit for now. */
export type CallWithRetry = <T>(request: (call: Call) => Promise<T>) => Promise<T>;

/** Returns whether an error says nothing about the request itself, so that a retry may succeed later. */
function isPassing(error: unknown): boolean {
  if (!isAppError(error)) return false;
  return ["warehouse_unavailable", "service_unavailable", "deadline_exceeded", "idempotency_in_progress"].includes(
    error.reason,
  );
}

/** The first wait after a refusal, which doubles, and the longest one, in milliseconds. */
const WAIT_MS = { first: 50, longest: 2000 };
/** Refusals after which the commit is left to the next process that takes it. */
const REFUSALS_MAX = 12;

/** Creates the calls of a commit. `isOver` says that its process stops or has lost the lease. */
export function createCallWithRetry(newCall: () => Call, isOver: () => boolean): CallWithRetry {
  return async (request) => {
    for (let refusals = 0; ; refusals++) {
      try {
        return await request(newCall());
      } catch (error) {
        if (!isPassing(error) || refusals >= REFUSALS_MAX || isOver()) throw error;
        const ms = Math.min(WAIT_MS.first * 2 ** refusals, WAIT_MS.longest);
        await new Promise((resolve) => setTimeout(resolve, ms));
      }
    }
  };
}
