import type { Bus } from "@tidemark/bus";
import { startRounds, startRunner } from "@tidemark/work";
import type { Db } from "@tidemark/pg";
import { cancelLockedJob, emptyChunks, lockJob } from "../jobs/jobs.sql.ts";
import { listDueCommits, listOldJobs, type JobName } from "./commit.sql.ts";
import { runCommit, type CommitDeps } from "./run-commit.ts";

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
export type CommitterDeps = CommitDeps & {
  readonly workerDb: Db;
  readonly bus: Bus;
};

/** The commits of a process. */
export type Committer = {
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
