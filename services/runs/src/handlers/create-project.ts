import { AppError } from "@tidemark/errors";
import { callerOf } from "@tidemark/requests";
import { encodeProject } from "../encode/project.ts";
import type { RunsDeps, RunsHandlers } from "../handlers.ts";
import { DEFAULT_PROJECT } from "../steps/choose-project.ts";
import { settleProject } from "../steps/settle-project.ts";

/**
 * Creates a project, or returns the one of that name as it is (API specification, POST /projects).
 * @throws forbidden for project-scoped keys, payment_required, plan_limit_exceeded
 */
export function createProject({ db, plans, newId }: RunsDeps): RunsHandlers["createProject"] {
  return async (request, call) => {
    const caller = callerOf(call);
    if (caller.projectId !== undefined) {
      throw new AppError("forbidden", "a project-scoped key cannot create projects");
    }
    const wish = {
      name: request.name === "" ? DEFAULT_PROJECT : request.name,
      description: request.description,
      newId: newId(),
      run: false,
    };
    const project = await db.withTenant(caller.orgId, (tx) => settleProject(tx, caller, plans, wish));
    return { project: encodeProject(project) };
  };
}
