import type { Bus } from "@tidemark/bus";
import { startRounds, startRunner } from "@tidemark/work";
import type { Db, Tx } from "@tidemark/pg";
import { cancelLockedJob, emptyChunks, lockJob, findJob, type JobRow } from "../jobs/jobs.sql.ts";
import {
  listDueCommits,
  listOldJobs,
  type JobName,
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
import { fromBinary } from "@bufbuild/protobuf";
import { IdentitySchema, type Identity } from "@tidemark/proto/common/v1/common";
import type { Call } from "@tidemark/rpc";
import type { Log } from "@tidemark/telemetry";
import { IMPORT_LIMITS } from "@tidemark/limits";
import { readTime } from "../content/read-values.rules.ts";
import { unpackContent } from "../content/content.rules.ts";
import { type JobFault, batchAt, batchesOf, type Batch } from "../jobs/job.rules.ts";
import { createCallWithRetry, LEASE_SECONDS, runHeld, type CallWithRetry } from "../jobs/run-held.ts";
import { identityOf, planCommit, type PlanDeps } from "./plan-commit.ts";
import { writeContentData, writeContentRuns } from "./write-content.ts";

/** Announces that a job is to be committed; the payload is a `JobName` as JSON. */
export const COMMIT_SUBJECT = "tidemark.imports.commit_requested.v1";
const DURABLE = "imports-commit";

/** Commits that a process works on simultaneously. More would not end sooner: each waits for the services that it writes to. */
const COMMITS_MAX = 2;
/** Days after which a job that was neither committed nor changed is cancelled, and what it has staged is removed. */
const STAGED_DAYS = 30;
/** How often a process looks for commits that no process works on. The bus only makes this faster. */
const LOOK_MS = 2000;
const SWEEP_MS = 3_600_000;
const OLD_JOBS_TOGETHER = 100;

/** Dependencies of the committer of a process. */
type CommitterDeps = CommitDeps & {
  readonly workerDb: Db;
  readonly bus: Bus;
};

/** The commits of a process. */
type Committer = {
  /** Takes no more commits, and lets other processes continue its own after their current batch. */
  drain(): Promise<void>;
};

/** Starts to work on commits. */
export async function startCommitter(deps: CommitterDeps): Promise<Committer> {
  const { workerDb, bus, log } = deps;
  const onError = (error: unknown): void => log.warn("import jobs could not be worked on now", { error });
  const commits = startRunner<JobName>({
    keyOf: ({ orgId, id }) => `${orgId}/${id}`,
    jobsMax: COMMITS_MAX,
    lookMs: LOOK_MS,
    listDue: (jobsMax) => listDueCommits(workerDb, jobsMax),
    run: (job, isStopped) => runCommit(deps, job, isStopped),
    onError,
  });
  const sweeps = startRounds({ everyMs: SWEEP_MS, round: () => cancelOldJobs(deps), onError });
  // The message is done when the commit has ended here; if that takes long, other processes get it, see the lease and leave it.
  const subscription = await bus.work(
    COMMIT_SUBJECT,
    DURABLE,
    ({ data }) => commits.begin(JSON.parse(Buffer.from(data).toString()) as JobName),
    { concurrency: COMMITS_MAX },
  );
  return {
    async drain() {
      await Promise.all([commits.drain(), sweeps.stop()]);
      await subscription.close();
    },
  };
}

/** Cancels jobs that have been idle for some days, so that staged content does not stay forever. */
async function cancelOldJobs({ db, workerDb, log }: CommitterDeps): Promise<void> {
  for (const { orgId, id } of await listOldJobs(workerDb, STAGED_DAYS, OLD_JOBS_TOGETHER)) {
    await db.withTenant(orgId, async (tx) => {
      const job = await lockJob(tx, orgId, id);
      if (job === undefined || !["created", "uploading", "dry_run_ready", "failed"].includes(job.status)) return;
      await emptyChunks(tx, orgId, id);
      await cancelLockedJob(tx, orgId, id);
      log.info("an import job that was left is cancelled", { org_id: orgId, import: id });
    });
  }
}

/** Chunks whose content is removed together. */
const EMPTIED_TOGETHER = 20;

/** Dependencies of commits. */
type CommitDeps = PlanDeps & {
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
    importedUs: readTime(job.updatedAt, "updated_at")! + sequence * IMPORT_LIMITS.runsOfJobMax,
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
