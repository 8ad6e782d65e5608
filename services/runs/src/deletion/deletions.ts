import { AppError, notFound } from "@tidemark/errors";
import { type Tx, sqlState } from "@tidemark/pg";
import { ChangeKind } from "@tidemark/proto/changes/v1/changes";
import { callerOf, forgetRuns, pathId, type Caller, auditActor } from "@tidemark/requests";
import type { RunsDeps, RunsHandlers } from "../deps.ts";
import { encodeRun, encodeProject } from "../read/encode-rows.ts";
import { requireRun } from "../read/runs.sql.ts";
import { hideRuns, noteVisibility, seeDeleted, showRuns } from "./hidden-rows.sql.ts";
import {
  lockRunToDelete,
  markRun,
  unmarkRun,
  type DeletableRun,
  lockProject,
  markProject,
  unmarkProject,
  type LockedProject,
  insertAudit,
  insertTransferAudit,
  type AuditAction,
} from "./marked-rows.sql.ts";
import type { Call } from "@tidemark/rpc";

/**
 * Deletes a run: it is hidden immediately, can be restored until `purge_after`, and a repeated call answers the same. A dry run changes nothing and
 * returns no run.
 * @throws not_found, also for a run of a deleted project, and in a dry run for a deleted one
 */
export function deleteRun({ db, staleness, graceDays, noteChange }: RunsDeps): RunsHandlers["deleteRun"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const runId = pathId(request.runId, "run");
    const { row, projectId } = await db.withTenant(orgId, async (tx) => {
      const run = await lockRun(tx, caller, runId);
      const { projectId } = run;
      if (run.isProjectDeleted || (request.dryRun && run.isDeleted)) throw notFound("run");
      if (request.dryRun) return { row: undefined, projectId };
      if (!run.isDeleted) {
        await hideRuns(tx, orgId, [runId]);
        await markRun(tx, orgId, runId, graceDays);
        await noteVisibility(tx, { orgId, projectId, runId });
        await recordAudit(tx, call, "run.deleted", runId);
      }
      return { row: await requireRun(tx, orgId, runId), projectId };
    });
    if (row === undefined) return {};
    forgetRuns({ projectId, runId });
    noteChange({ orgId, projectId, runId, kind: ChangeKind.RUN });
    return { run: encodeRun(row, staleness) };
  };
}

/**
 * Restores a deleted run as it was; one that is not deleted is returned unchanged.
 * @throws not_found when it does not exist or its time is over, conflict while its project is deleted
 */
export function undeleteRun({ db, staleness, noteChange }: RunsDeps): RunsHandlers["undeleteRun"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const runId = pathId(request.runId, "run");
    const { row, projectId } = await db.withTenant(orgId, async (tx) => {
      const run = await lockRun(tx, caller, runId);
      const { projectId } = run;
      if (run.isProjectDeleted) throw new AppError("conflict", "the project of the run is deleted; restore it first");
      if (run.isDeleted) {
        await unmarkRun(tx, orgId, runId);
        await showRuns(tx, orgId, [runId]);
        await noteVisibility(tx, { orgId, projectId, runId });
        await recordAudit(tx, call, "run.restored", runId);
      }
      return { row: await requireRun(tx, orgId, runId), projectId };
    });
    forgetRuns({ projectId, runId });
    noteChange({ orgId, projectId, runId, kind: ChangeKind.RUN });
    return { run: encodeRun(row, staleness) };
  };
}

/** Locks a run, deleted or not, until the transaction ends. @throws not_found */
async function lockRun(tx: Tx, caller: Caller, runId: string): Promise<DeletableRun> {
  await seeDeleted(tx);
  const run = await lockRunToDelete(tx, caller.orgId, runId);
  if (run === undefined || run.isOver) throw notFound("run");
  if (caller.projectId !== undefined && (run.projectId !== caller.projectId || run.isProjectDeleted))
    throw notFound("run");
  return run;
}

/**
 * Deletes a project with its runs: it is hidden immediately, and its runs with it or, in a very large project, some seconds later. It can be restored
 * until `purge_after`, and a repeated call answers the same. A dry run changes nothing and returns no project.
 * @throws not_found, in a dry run also for a deleted project
 */
export function deleteProject({
  db,
  deletionPropagator,
  graceDays,
  noteChange,
}: RunsDeps): RunsHandlers["deleteProject"] {
  return async (request, call) => {
    const { orgId, projectId } = namedProject(request.projectId, call);
    const done = await db.withTenant(orgId, async (tx) => {
      const project = await lockVisible(tx, orgId, projectId);
      const isDeleted = project.deleted_at !== null;
      if (request.dryRun && isDeleted) throw notFound("project");
      if (request.dryRun || isDeleted) return project;
      const marked = await markProject(tx, orgId, projectId, graceDays);
      await noteVisibility(tx, { orgId, projectId, runId: undefined });
      await recordAudit(tx, call, "project.deleted", projectId);
      return marked;
    });
    if (request.dryRun) return {};
    forgetRuns({ projectId, runId: undefined });
    noteChange({ orgId, projectId, runId: "", kind: ChangeKind.PROJECT_DELETED });
    await deletionPropagator.settle(orgId, projectId);
    return { project: encodeProject(done) };
  };
}

/**
 * Restores a deleted project and the runs that were deleted with it; one that is not deleted is returned unchanged.
 * @throws not_found when it does not exist or its time is over, conflict when another project has its name
 */
export function undeleteProject({ db, deletionPropagator }: RunsDeps): RunsHandlers["undeleteProject"] {
  return async (request, call) => {
    const { orgId, projectId } = namedProject(request.projectId, call);
    const project = await db
      .withTenant(orgId, async (tx) => {
        const found = await lockVisible(tx, orgId, projectId);
        if (found.deleted_at === null) return found;
        const restored = await unmarkProject(tx, orgId, projectId);
        await noteVisibility(tx, { orgId, projectId, runId: undefined });
        await recordAudit(tx, call, "project.restored", projectId);
        return restored;
      })
      .catch((error: unknown) => {
        if (sqlState(error) !== "23505") throw error;
        throw new AppError("conflict", "another project has the name now; rename that one first", { cause: error });
      });
    forgetRuns({ projectId, runId: undefined });
    await deletionPropagator.settle(orgId, projectId);
    return { project: encodeProject(project) };
  };
}

/** @throws unauthenticated, not_found */
function namedProject(text: string, call: Call): { orgId: string; projectId: string } {
  const caller = callerOf(call);
  const projectId = pathId(text, "project");
  if (caller.projectId !== undefined && caller.projectId !== projectId) throw notFound("project");
  return { orgId: caller.orgId, projectId };
}

/** Locks a project, deleted or not. @throws not_found */
async function lockVisible(tx: Tx, orgId: string, projectId: string): Promise<LockedProject> {
  await seeDeleted(tx);
  const project = await lockProject(tx, orgId, projectId);
  if (project === undefined || project.isOver) throw notFound("project");
  return project;
}

/** Adds that a caller moved or copied runs, each from a project of `homes`, to the audit log, in the transaction that does it. */
export function recordTransfer(
  tx: Tx,
  call: Call,
  transfer: {
    readonly action: "run.moved" | "run.copied";
    readonly toProject: string;
    readonly homes: readonly string[];
  },
): Promise<void> {
  const { action, toProject, homes } = transfer;
  const fromProjects = new Map<string, number>();
  for (const home of homes) fromProjects.set(home, (fromProjects.get(home) ?? 0) + 1);
  return insertTransferAudit(tx, auditActor(call), { action, toProject, fromProjects, requestId: call.requestId });
}

/** Adds a caller's action on a run or a project to the audit log of the transaction's organization, in the transaction of the change. */
export function recordAudit(tx: Tx, call: Call, action: AuditAction, id: string): Promise<void> {
  return insertAudit(tx, auditActor(call), { action, id, requestId: call.requestId });
}
