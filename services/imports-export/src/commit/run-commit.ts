import { fromBinary } from "@bufbuild/protobuf";
import { isAppError } from "@tidemark/errors";
import type { Db } from "@tidemark/pg";
import { IdentitySchema, type Identity } from "@tidemark/proto/common/v1/common";
import type { Call } from "@tidemark/rpc";
import type { Log } from "@tidemark/telemetry";
import { unpackContent } from "../content/pack-content.rules.ts";
import { emptyChunks, findJob, type JobRow } from "../jobs/jobs.sql.ts";
import { createAsks, isPassing, type Asks } from "./asks.ts";
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

/** How long a process may be silent about a commit before another one goes on. */
const LEASE_SECONDS = 15;

/** Chunks whose content is removed together. */
const EMPTIED_TOGETHER = 20;

/** What commits work with. */
export type CommitDeps = PlanDeps & {
  readonly log: Pick<Log, "info" | "warn">;
  /** Starts a call for whoever asked for a commit. */
  readonly newCall: (identity: Identity) => Call;
};

/**
 * Works on a commit until it has ended, `isStopped` says so, or another process holds the lease; returns immediately when there is nothing to do or
 * another commit comes first. Resolves to true if the commit has ended here, well or badly.
 * Each batch is stored and then marked. A batch that was stored and not marked is stored again without effect; so is one of a former holder of the
 * lease, whose mark is refused by the fence.
 */
export async function runCommit(
  deps: CommitDeps,
  name: { readonly orgId: string; readonly id: number },
  isStopped: () => boolean,
): Promise<boolean> {
  const { db, log } = deps;
  const { orgId } = name;
  const job = await db.withTenant(orgId, (tx) => holdJob(tx, orgId, name.id, LEASE_SECONDS));
  if (job === undefined) return false;
  let isLost = false;
  const renew = async (): Promise<void> => {
    if (!(await db.withTenant(orgId, (tx) => renewLease(tx, job, LEASE_SECONDS)))) isLost = true;
  };
  const timer = setInterval(() => void renew().catch(() => {}), (LEASE_SECONDS * 1000) / 3);
  timer.unref();
  const isOver = (): boolean => isLost || isStopped();
  try {
    const hasEnded = await work(deps, job, isOver);
    if (isOver()) await letGo(db, job);
    return hasEnded;
  } catch (error) {
    if (isPassing(error)) {
      log.warn("a commit of an import was interrupted; it goes on later", { org_id: orgId, import: job.id, error });
      await letGo(db, job);
      return false;
    }
    const isKnown = isAppError(error) && error.reason !== "internal";
    if (!isKnown) log.warn("a commit of an import failed unexpectedly", { org_id: orgId, import: job.id, error });
    const [code, text] = isKnown ? [error.reason, error.message] : ["internal", "the import failed unexpectedly"];
    return await db.withTenant(orgId, (tx) => failCommit(tx, job, code, text));
  } finally {
    clearInterval(timer);
  }
}

/** Lets another process go on, or this one later. If that fails too, the lease runs out by itself. */
async function letGo(db: Db, job: HeldJob): Promise<void> {
  await db.withTenant(job.orgId, (tx) => renewLease(tx, job, 0)).catch(() => {});
}

async function work(deps: CommitDeps, held: HeldJob, isOver: () => boolean): Promise<boolean> {
  const { db, log } = deps;
  const { orgId } = held;
  const identity = fromBinary(IdentitySchema, held.identity);
  const ask = createAsks(() => deps.newCall(identity), isOver);
  if (!held.isPlanned && !(await planCommit(deps, ask, held))) return false;
  const job = (await db.readTenant(orgId, (tx) => findJob(tx, orgId, held.id)))!;
  const decided = (await db.readTenant(orgId, (tx) => listJobRuns(tx, job))) as DecidedRun[];
  const runs = new Map(decided.map((run) => [Buffer.from(run.sourceHash).toString("hex"), run]));
  for (let done = job.batchesDone; done < batchesOf(job.chunks); done++) {
    if (isOver()) return false;
    const counts = await writeBatch(deps, ask, job, batchAt(done, job.chunks), runs);
    // `held` has the fence of this process; the row that was read since may have another one.
    if (!(await db.withTenant(orgId, (tx) => markBatch(tx, held, done + 1, counts, LEASE_SECONDS)))) return false;
  }
  if (!(await finish(db, held, job, decided))) return false;
  log.info("an import is committed", { org_id: orgId, import: job.id });
  return true;
}

async function writeBatch(
  { db, owners }: CommitDeps,
  ask: Asks,
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
  if (part === "runs") return writeContentRuns(owners, ask, write, sequence);
  return writeContentData(owners, ask, write);
}

async function finish(db: Db, held: HeldJob, job: JobRow, decided: readonly DecidedRun[]): Promise<boolean> {
  const created = decided
    .filter(({ outcome }) => outcome === "create")
    .map(({ sourceHash, runId }) => ({ identity: identityOf(job, sourceHash), runId }));
  // Before the end, so that nothing is left behind, and part by part, because there may be gigabytes.
  for (let from = 0; from < job.chunks; from += EMPTIED_TOGETHER) {
    await db.withTenant(job.orgId, (tx) => emptyChunks(tx, job.orgId, job.id, { from, to: from + EMPTIED_TOGETHER }));
  }
  return db.withTenant(job.orgId, (tx) => finishCommit(tx, held, job.projectId!, created));
}
