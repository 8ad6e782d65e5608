import { AppError, notFound } from "@tidemark/errors";
import { sqlState, type Tx } from "@tidemark/pg";
import { ChangeKind } from "@tidemark/proto/changes/v1/changes";
import { callerOf, forgetRuns, pathId } from "@tidemark/requests";
import type { Call } from "@tidemark/rpc";
import type { RunsDeps, RunsHandlers } from "../deps.ts";
import { encodeProject } from "../projects/encode-project.ts";
import { noteVisibility, seeDeleted } from "./hidden-rows.sql.ts";
import { lockProject, markProject, unmarkProject, type LockedProject } from "./marked-projects.sql.ts";
import { recordAudit } from "./record-audit.ts";

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
