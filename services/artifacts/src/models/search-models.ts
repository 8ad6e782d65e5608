import { badRequest } from "@tidemark/errors";
import { MODELS, PAGE_BYTES_MAX } from "@tidemark/limits";
import { callerOf, canSee, isUuid, requireLimit } from "@tidemark/requests";
import type { ArtifactsDeps, ModelsHandlers } from "../deps.ts";
import { countFitting } from "@tidemark/pg/query";
import { listModelMetrics } from "./model-metrics.sql.ts";
import { encodeModel } from "./models.ts";
import { readModels } from "./models.sql.ts";
import { findModels } from "./search-models.sql.ts";

/** ModelsService.SearchModels. @throws bad_request */
export function searchModels({ db }: Pick<ArtifactsDeps, "db">): ModelsHandlers["searchModels"] {
  return (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const limit = requireLimit(request.limit, MODELS.pageMax);
    if (request.projectIds.length > MODELS.projectsMax) {
      throw badRequest(`project_ids must have at most ${MODELS.projectsMax} ids`, "project_ids");
    }
    const projectIds = request.projectIds.filter(
      (projectId) => isUuid(projectId) && canSee(caller, { orgId, projectId }),
    );
    return db.readTenant(
      orgId,
      async (tx) => {
        const { found, cursorOf } = await findModels(tx, orgId, { ...request, projectIds, limit: limit + 1 });
        const page = found.slice(0, countFitting(found, limit, PAGE_BYTES_MAX));
        const ids = page.map(({ id }) => id);
        const metrics = Map.groupBy(await listModelMetrics(tx, orgId, ids), ({ modelId }) => modelId);
        const rows = await readModels(tx, orgId, ids);
        return {
          models: rows.map((row) => encodeModel(row, metrics.get(row.id) ?? [])),
          nextCursor: page.length < found.length ? cursorOf(page.at(-1)!) : "",
        };
      },
      { plans: "by values" },
    );
  };
}
