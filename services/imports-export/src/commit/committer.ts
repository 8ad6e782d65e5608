import type { Bus } from "@tidemark/bus";
import type { Db } from "@tidemark/pg";
import { cancelLockedJob, emptyChunks, lockJob } from "../jobs/jobs.sql.ts";
import { listDueCommits, listOldJobs, type JobName } from "./commit.sql.ts";
import { runCommit, type CommitDeps } from "./run-commit.ts";

/** Says that a job is to be committed; the payload is a `JobName` as JSON. */
export const COMMIT_SUBJECT = "tidemark.imports.commit_requested.v1";
const DURABLE = "imports-commit";

/** How often a process looks for commits that no process works on. The bus only makes that faster. */
const LOOK_MS = 2000;
const SWEEP_MS = 3_600_000;
const OLD_JOBS_TOGETHER = 100;

/** What the committer of a process works with. */
export type CommitterDeps = CommitDeps & {
  readonly workerDb: Db;
  readonly bus: Bus;
  /** Commits that a process works on simultaneously. */
  readonly commitsMax: number;
  /** Days after which a job that nobody has gone on with is cancelled. */
  readonly stagedDays: number;
};

/** The commits of a process. */
export type Committer = {
  /** Takes no more commits and lets others go on with its own after their current batch. */
  drain(): Promise<void>;
};

/** Starts to work on commits. */
export async function startCommitter(deps: CommitterDeps): Promise<Committer> {
  const { workerDb, bus, log, commitsMax } = deps;
  const running = new Map<string, Promise<void>>();
  let stopped = false;

  const begin = (job: JobName): Promise<void> => {
    const name = `${job.orgId}/${job.id}`;
    const known = running.get(name);
    if (known !== undefined) return known;
    const work = runCommit(deps, job, () => stopped)
      .catch((error: unknown) => {
        log.warn("a commit of an import could not be worked on", { error });
        return false;
      })
      .then((hasEnded) => {
        running.delete(name);
        // The next commit of the organization does not wait for the next round.
        if (hasEnded) lookNow();
      });
    running.set(name, work);
    return work;
  };

  const look = async (): Promise<void> => {
    const free = commitsMax - running.size;
    if (stopped || free <= 0) return;
    for (const job of await listDueCommits(workerDb, free)) void begin(job);
  };
  const attempt = (round: () => Promise<void>): void =>
    void round().catch((error: unknown) => log.warn("import jobs could not be looked for", { error }));
  const lookNow = (): void => attempt(look);
  const looking = every(LOOK_MS, look);
  const sweeping = every(SWEEP_MS, () => cancelOldJobs(deps));

  function every(ms: number, round: () => Promise<void>): NodeJS.Timeout {
    const work = (): void => attempt(round);
    const timer = setInterval(work, ms);
    timer.unref();
    work();
    return timer;
  }

  // The message is done when the commit has ended here; if that takes long, others get it, see the lease and leave it.
  const subscription = await bus.work(
    COMMIT_SUBJECT,
    DURABLE,
    ({ data }) => begin(JSON.parse(Buffer.from(data).toString()) as JobName),
    { concurrency: commitsMax },
  );
  return {
    async drain() {
      stopped = true;
      clearInterval(looking);
      clearInterval(sweeping);
      await Promise.all(running.values());
      await subscription.close();
    },
  };
}

/** Cancels jobs that nobody has gone on with for some days, so that what is staged does not stay for ever. */
async function cancelOldJobs({ db, workerDb, stagedDays, log }: CommitterDeps): Promise<void> {
  for (const { orgId, id } of await listOldJobs(workerDb, stagedDays, OLD_JOBS_TOGETHER)) {
    await db.withTenant(orgId, async (tx) => {
      const job = await lockJob(tx, orgId, id);
      if (job === undefined || !["created", "uploading", "dry_run_ready", "failed"].includes(job.status)) return;
      await emptyChunks(tx, orgId, id);
      await cancelLockedJob(tx, orgId, id);
      log.info("an import job that was left is cancelled", { org_id: orgId, import: id });
    });
  }
}
