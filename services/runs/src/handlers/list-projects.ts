import { callerOf, requireLimit } from "@tidemark/requests";
import { encodeProject } from "../encode/project.ts";
import type { RunsDeps, RunsHandlers } from "../handlers.ts";
import { countProjects } from "../store/count-projects.ts";
import { listProjects as readProjects } from "../store/list-projects.ts";

const LIMIT_MAX = 1000;

/** Lists projects by name; a project-scoped key sees its own (API specification, GET /projects). @throws bad_request */
export function listProjects({ db }: RunsDeps): RunsHandlers["listProjects"] {
  return async (request, call) => {
    const { orgId, projectId } = callerOf(call);
    const page = { limit: requireLimit(request.limit, LIMIT_MAX), offset: request.offset };
    return db.withTenant(orgId, async (tx) => {
      const rows = await readProjects(tx, orgId, projectId, page);
      const total = await countProjects(tx, orgId, projectId);
      return { projects: rows.map(encodeProject), total: BigInt(total) };
    });
  };
}
