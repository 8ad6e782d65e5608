import type { Db } from "@tidemark/pg";
import { unpackContent } from "../content/content.rules.ts";
import { hashIdentity, hashSourceId } from "../content/named-runs.rules.ts";
import { findProjectId, type JobRow } from "../jobs/jobs.sql.ts";
import type { CallWithRetry } from "../jobs/run-held.ts";
import {
  findImported,
  keepKnownPoints,
  keepPlan,
  listJobRuns,
  loadContent,
  type DecidedRun,
  type Hold,
  type JobRun,
} from "./commit.sql.ts";
import { findKnownPoints } from "./known-points.ts";
import type { CommitClients } from "./write-rows.ts";

/** The source whose runs grow: another import of the same run adds more of its points. */
const GROWING_SOURCE = "tensorboard";

/** Dependencies of a plan. */
export type PlanDeps = { readonly db: Db; readonly clients: CommitClients; readonly newId: () => string };

/** Returns the identity of a run, independent of the job that contains it. Imports without a job have the source of jobs. */
export function identityOf(job: Pick<JobRow, "sourceType" | "sourceProject" | "dedupePolicy">, sourceHash: Uint8Array) {
  const sourceType = job.dedupePolicy === "legacy" ? job.sourceType.replace(/_json$/, "") : job.sourceType;
  return hashIdentity(sourceType, job.sourceProject, sourceHash);
}

/**
 * Decides the outcome for each run, once, before anything is written: its id, or that it was imported before; and which points a run already has.
 * From then on every step of the commit can be repeated. Makes the project. False: another process has the lease.
 * @throws forbidden, payment_required, plan_limit_exceeded
 */
export async function planCommit(deps: PlanDeps, callWithRetry: CallWithRetry, job: JobRow): Promise<boolean> {
  const { db, clients } = deps;
  const { orgId } = job;
  const runs = await db.readTenant(orgId, (tx) => listJobRuns(tx, job));
  const decided = await decideRuns(deps, job, runs);
  const count = (outcome: string): number => decided.filter((run) => run.outcome === outcome).length;
  const project = {
    project: { id: deps.newId(), name: job.targetProject },
    spareId: deps.newId(),
    newRuns: count("create"),
  };
  const { id: projectId } = await callWithRetry((call) => clients.runs.restoreProject(project, call));
  const grows = decided.filter(({ outcome }) => outcome === "append");
  if (grows.length > 0) await noteKnownPoints(deps, callWithRetry, job, grows);
  // A repeated run of a job is skipped, though another run of the job has its id.
  const skipped = count("skip") + (job.runs - runs.length);
  return db.withTenant(orgId, (tx) =>
    keepPlan(tx, job, { projectId, runs: decided, updated: grows.length, skipped: Math.max(0, skipped) }),
  );
}

async function decideRuns({ db, newId }: PlanDeps, job: JobRow, runs: readonly JobRun[]): Promise<DecidedRun[]> {
  const { orgId } = job;
  const identities = runs.map(({ sourceHash }) => identityOf(job, sourceHash));
  const known = await db.readTenant(orgId, async (tx) => {
    const projectId = job.dedupePolicy === "legacy" ? undefined : await findProjectId(tx, orgId, job.targetProject);
    return projectId === undefined ? [] : findImported(tx, orgId, projectId, identities);
  });
  const runIds = new Map(known.map(({ identity, runId }) => [Buffer.from(identity).toString("hex"), runId]));
  return runs.map((run, i) => {
    const existing = runIds.get(identities[i]!.toString("hex"));
    if (existing === undefined) return { ...run, outcome: "create", runId: newId() };
    const outcome = job.sourceType === GROWING_SOURCE && !run.isRich ? "append" : "skip";
    return { ...run, outcome, runId: existing };
  });
}

async function noteKnownPoints(
  { db, clients }: PlanDeps,
  callWithRetry: CallWithRetry,
  job: Hold & Pick<JobRow, "chunks">,
  grows: readonly DecidedRun[],
): Promise<void> {
  const runIds = new Map(grows.map(({ sourceHash, runId }) => [Buffer.from(sourceHash).toString("hex"), runId]));
  for (let sequence = 0; sequence < job.chunks; sequence++) {
    const { content: packed } = await db.readTenant(job.orgId, (tx) => loadContent(tx, job, sequence));
    const content = await unpackContent(packed);
    const ids = content.sources.map((id) => runIds.get(hashSourceId(id).toString("hex")));
    const known = await findKnownPoints(clients, callWithRetry, content, (source) => ids[source]);
    await db.withTenant(job.orgId, (tx) => keepKnownPoints(tx, job, sequence, known));
  }
}
