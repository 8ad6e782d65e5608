import { underLease } from "@tidemark/jobs";
import type { Db, Tx } from "@tidemark/pg";
import type { Log } from "@tidemark/telemetry";
import { isPassing } from "./call-with-retry.ts";
import { knownFault, type JobFault } from "./job-fault.rules.ts";

/** How long a process may be silent about an import or a restore before another process resumes it. */
export const LEASE_SECONDS = 15;

/** A job that this process has just taken. */
export type HeldWork = {
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
