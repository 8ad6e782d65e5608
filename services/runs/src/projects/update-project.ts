import { AppError, badRequest, notFound } from "@tidemark/errors";
import { sqlState } from "@tidemark/pg";
import { callerOf, pathId, refuseUnpaid, throwFault } from "@tidemark/requests";
import type { RunsDeps, RunsHandlers } from "../deps.ts";
import { lockProject } from "../deletion/marked-projects.sql.ts";
import { recordAudit } from "../deletion/record-audit.ts";
import { encodeProject } from "./encode-project.ts";
import { changeProject } from "./projects.sql.ts";

/**
 * Changes name and description of a project. Searches find its runs by the new name when this returns or, in a very large project, some seconds later.
 * @throws forbidden for project-scoped keys, not_found, then bad_request, then payment_required, conflict when the name is taken
 */
export function updateProject({ db, deletionPropagator }: RunsDeps): RunsHandlers["updateProject"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    if (caller.projectId !== undefined) throw new AppError("forbidden", "a project-scoped key cannot change projects");
    const projectId = pathId(request.projectId, "project");
    const changes = { name: request.name, description: request.description };
    const project = await db
      .withTenant(orgId, async (tx) => {
        const before = await lockProject(tx, orgId, projectId);
        if (before === undefined) throw notFound("project");
        throwFault(request.bodyFault);
        if (changes.name === undefined && changes.description === undefined) {
          throw badRequest("one of name and description is required");
        }
        refuseUnpaid(caller);
        const after = await changeProject(tx, orgId, projectId, changes);
        if (after.name !== before.name) await recordAudit(tx, call, "project.renamed", projectId);
        return after;
      })
      .catch((error: unknown) => {
        if (sqlState(error) !== "23505") throw error;
        throw new AppError("conflict", "another project has this name", { field: "name", cause: error });
      });
    await deletionPropagator.settle(orgId, projectId);
    return { project: encodeProject(project) };
  };
}
