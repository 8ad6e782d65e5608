import { fromBinary } from "@bufbuild/protobuf";
import type { Db, Tx } from "@tidemark/pg";
import { IdentitySchema, type Identity } from "@tidemark/proto/common/v1/common";
import type { Call } from "@tidemark/rpc";
import type { Log } from "@tidemark/telemetry";
import { unpackContent } from "../content/pack-content.rules.ts";
import { emptyChunks, findJob, type JobRow } from "../jobs/jobs.sql.ts";
import type { JobFault } from "../jobs/job-fault.rules.ts";
import { createCallWithRetry, LEASE_SECONDS, runHeld, type CallWithRetry } from "../jobs/run-held.ts";
import { batchAt, batchesOf, type Batch } from "./batches.rules.ts";
import {
  failCommit,
  finishCommit,
  holdJob,
  listJobRuns,
  loadContent,
  markBatch,
  renewLease,
  type BatchCounts,
  type DecidedRun,
  type HeldJob,
} from "./commit.sql.ts";
import { identityOf, planCommit, type PlanDeps } from "./plan-commit.ts";
import { writeContentData, writeContentRuns } from "./write-content.ts";

/** Chunks whose content is removed together. */
const EMPTIED_TOGETHER = 20;

/** Dependencies of commits. */
export type CommitDeps = PlanDeps & {
  readonly log: Pick<Log, "info" | "warn">;
  /** Starts a call as the caller who asked for a commit. */
  readonly newCall: (identity: Identity) => Call;
};

/**
 * Works on a commit until it has ended, `isStopped` says so, or another process holds the lease; returns immediately if there is nothing to do or
 * another commit is first. Resolves to true if the commit has ended here, with success or failure.
 * Each batch is stored and then marked. A stored but unmarked batch is stored again without effect; so is a batch of a former holder of the
 * lease, whose mark is refused by the fence.
 */
export async function runCommit(
  deps: CommitDeps,
  { orgId, id }: { readonly orgId: string; readonly id: number },
  isStopped: () => boolean,
): Promise<boolean> {
  const job = await deps.db.withTenant(orgId, (tx) => holdJob(tx, orgId, id, LEASE_SECONDS));
  if (job === undefined) return false;
  const held = {
    orgId,
    what: "the import",
    fields: { import: id },
    renew: (tx: Tx, seconds: number) => renewLease(tx, job, seconds),
    work: (isOver: () => boolean) => work(deps, job, isOver),
    fail: (tx: Tx, { code, message }: JobFault) => failCommit(tx, job, code, message),
  };
  return runHeld(deps, held, isStopped);
}

async function work(deps: CommitDeps, held: HeldJob, isOver: () => boolean): Promise<boolean> {
  const { db, log } = deps;
  const { orgId } = held;
  const identity = fromBinary(IdentitySchema, held.identity!);
  const callWithRetry = createCallWithRetry(() => deps.newCall(identity), isOver);
  if (!held.isPlanned && !(await planCommit(deps, callWithRetry, held))) return false;
  const job = (await db.readTenant(orgId, (tx) => findJob(tx, orgId, held.id)))!;
  const decided = (await db.readTenant(orgId, (tx) => listJobRuns(tx, job))) as DecidedRun[];
  const runs = new Map(decided.map((run) => [Buffer.from(run.sourceHash).toString("hex"), run]));
  for (let done = job.batchesDone; done < batchesOf(job.chunks); done++) {
    if (isOver()) return false;
    const counts = await writeBatch(deps, callWithRetry, job, batchAt(done, job.chunks), runs);
    // `held` has the fence of this process; the row that was read later may have another one.
    if (!(await db.withTenant(orgId, (tx) => markBatch(tx, held, done + 1, counts, LEASE_SECONDS)))) return false;
  }
  if (!(await finish(db, held, job, decided))) return false;
  log.info("an import is committed", { org_id: orgId, import: job.id });
  return true;
}

async function writeBatch(
  { db, clients }: CommitDeps,
  callWithRetry: CallWithRetry,
  job: JobRow,
  { part, sequence }: Batch,
  runs: ReadonlyMap<string, DecidedRun>,
): Promise<BatchCounts> {
  const { content, knownPoints } = await db.readTenant(job.orgId, (tx) => loadContent(tx, job, sequence));
  const write = {
    content: await unpackContent(content),
    name: `${job.writeKey}:${sequence}`,
    projectId: job.projectId!,
    sourceType: job.sourceType,
    runs,
    knownPoints,
  };
  if (part === "runs") return writeContentRuns(clients, callWithRetry, write, sequence);
  return writeContentData(clients, callWithRetry, write);
}

async function finish(db: Db, held: HeldJob, job: JobRow, decided: readonly DecidedRun[]): Promise<boolean> {
  const created = decided
    .filter(({ outcome }) => outcome === "create")
    .map(({ sourceHash, runId }) => ({ identity: identityOf(job, sourceHash), runId }));
  // Before the end, so that nothing is left over, and part by part, because there may be gigabytes.
  for (let from = 0; from < job.chunks; from += EMPTIED_TOGETHER) {
    await db.withTenant(job.orgId, (tx) => emptyChunks(tx, job.orgId, job.id, { from, to: from + EMPTIED_TOGETHER }));
  }
  return db.withTenant(job.orgId, (tx) => finishCommit(tx, held, job.projectId!, created));
}
