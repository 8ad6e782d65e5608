import { AppError, badRequest, notFound } from "@tidemark/errors";
import { IMPORT_LIMITS } from "@tidemark/limits";
import { ChangeKind } from "@tidemark/proto/changes/v1/changes";
import type { RunsRestoreService } from "@tidemark/proto/runs/v1/restore";
import { callerOf, canSee, isUuid, pathId } from "@tidemark/requests";
import type { Handlers } from "@tidemark/rpc";
import { createPauses } from "@tidemark/work";
import type { RunsDeps } from "../deps.ts";
import { findProject } from "../projects/projects.sql.ts";
import { chooseProjectName, resolveProject } from "../projects/resolve-project.ts";
import { restoreReadmes } from "../readme/readmes.sql.ts";
import { restoredReadme, restoredRow } from "./read-restored-run.ts";
import { findTakenIds, restoreRunRows, type RestoredRunRow } from "./restored-runs.sql.ts";

type RestoreHandlers = Handlers<(typeof RunsRestoreService)["method"]>;

/**
 * Returns the handlers of RunsRestoreService. RestoreProject throws bad_request, forbidden, payment_required and plan_limit_exceeded; RestoreRuns
 * throws bad_request, not_found, and conflict for an id that another organization has taken meanwhile.
 */
export function restoreHandlers({
  db,
  plans,
  noteChange,
}: Pick<RunsDeps, "db" | "plans" | "noteChange">): RestoreHandlers {
  return {
    async findTakenRuns({ ids }, call) {
      const { orgId } = callerOf(call);
      if (ids.length > IMPORT_LIMITS.runsTogetherMax || !ids.every(isUuid)) {
        throw badRequest(`ids must be at most ${IMPORT_LIMITS.runsTogetherMax} canonical UUIDs`, "ids");
      }
      return { ids: await db.readTenant(orgId, (tx) => findTakenIds(tx, ids)) };
    },

    async restoreProject({ project, spareId, newRuns }, call) {
      const caller = callerOf(call);
      if (project === undefined || !isUuid(project.id) || !isUuid(spareId)) {
        throw badRequest("a project and its ids are required", "project");
      }
      const { id, name, description, createdAt } = project;
      const found = await db.withTenant(caller.orgId, async (tx) =>
        resolveProject(tx, caller, plans, {
          name: await chooseProjectName(tx, caller, name),
          description,
          newId: (await findProject(tx, caller.orgId, id)) === undefined ? id : spareId,
          createdAt: createdAt === "" ? undefined : createdAt,
          runs: newRuns,
        }),
      );
      return { id: found.id };
    },

    async restoreRuns(request, call) {
      const caller = callerOf(call);
      const { orgId } = caller;
      const projectId = pathId(request.projectId, "project");
      if (!canSee(caller, { orgId, projectId })) throw notFound("project");
      const { runs } = request;
      if (runs.length < 1 || runs.length > IMPORT_LIMITS.runsTogetherMax) {
        throw badRequest(`runs must have 1 to ${IMPORT_LIMITS.runsTogetherMax} items`, "runs");
      }
      const rows: RestoredRunRow[] = [];
      const pauseIfLong = createPauses();
      for (const run of runs) {
        rows.push(await restoredRow(run));
        await pauseIfLong();
      }
      const readmes = runs.flatMap(restoredReadme);
      if (new Set(rows.map(({ id }) => id)).size < rows.length) {
        throw badRequest("runs must have different ids", "runs");
      }
      const present = await db.withTenant(orgId, async (tx) => {
        if ((await findProject(tx, orgId, projectId)) === undefined) throw notFound("project");
        const there = await restoreRunRows(tx, orgId, projectId, rows);
        await restoreReadmes(tx, orgId, readmes);
        return there;
      });
      if (present < rows.length)
        throw new AppError("conflict", "the id of a run was taken while the archive was restored");
      for (const { id: runId } of rows) noteChange({ orgId, projectId, runId, kind: ChangeKind.RUN });
      return {};
    },
  };
}
