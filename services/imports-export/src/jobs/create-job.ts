import { AppError, badRequest } from "@tidemark/errors";
import { IMPORT_LIMITS, isReservedProjectName, RESERVED_PROJECT_NAME } from "@tidemark/limits";
import type { Tx } from "@tidemark/pg";
import { callerOf, refuseUnpaid, type Caller } from "@tidemark/requests";
import { redactText } from "../chunks/clean-body.rules.ts";
import { SCHEMA_VERSION } from "../chunks/read-chunk.rules.ts";
import { hasAtMost } from "../content/read-values.rules.ts";
import { TEXT_BYTES_MAX } from "../content/read-fields.rules.ts";
import type { ImportsDeps, ImportsHandlers } from "../deps.ts";
import { encodeJob, importId, partsOf, requireJob, requireText } from "./get-job.ts";
import { cancelLockedJob, emptyChunks, findProjectId, findProjectName, insertJob } from "./jobs.sql.ts";

/** ImportsService.CreateJob. @throws bad_request, forbidden, payment_required */
export function createJob({ db }: Pick<ImportsDeps, "db">): ImportsHandlers["createJob"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const sourceType = requireText(request.sourceType, "source_type", TEXT_BYTES_MAX);
    const targetProject = requireText(request.targetProject, "target_project", TEXT_BYTES_MAX);
    const sourceProject = redactText(request.sourceProject.trim());
    if (!hasAtMost(sourceProject, IMPORT_LIMITS.textCharactersMax)) {
      throw badRequest(
        `source_project must have at most ${IMPORT_LIMITS.textCharactersMax} characters`,
        "source_project",
      );
    }
    refuseUnpaid(caller);
    const row = await db.withTenant(caller.orgId, async (tx) => {
      const projectId = await targetOf(tx, caller, targetProject);
      return insertJob(tx, caller.orgId, {
        projectId,
        sourceType,
        sourceProject: sourceProject === "" ? null : sourceProject,
        targetProject,
        schemaVersion: SCHEMA_VERSION,
        dedupePolicy: "skip_existing",
        createdByUserId: call.identity!.userId || null,
        status: "created",
      });
    });
    return { job: encodeJob(row, { runIds: [], chunkIds: [] }) };
  };
}

/**
 * Returns the id of the project of this name, null when there is none yet.
 * @throws bad_request for a name that no project may have, forbidden when a project-scoped key names another project
 */
export async function targetOf(tx: Tx, { orgId, projectId }: Caller, name: string): Promise<string | null> {
  if (isReservedProjectName(name)) throw badRequest(RESERVED_PROJECT_NAME, "target_project");
  if (projectId === undefined) return (await findProjectId(tx, orgId, name)) ?? null;
  if ((await findProjectName(tx, orgId, projectId)) === name) return projectId;
  throw new AppError("forbidden", "a project-scoped key can use its own project only", { field: "target_project" });
}

const CANCELLABLE = ["created", "uploading", "dry_run_ready", "failed"];

/** ImportsService.CancelJob. If a cancel and a commit are sent simultaneously, one wins: both lock the row. @throws not_found, conflict */
export function cancelJob({ db }: Pick<ImportsDeps, "db">): ImportsHandlers["cancelJob"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const id = importId(request.importId);
    const job = await db.withTenant(caller.orgId, async (tx) => {
      const { status } = await requireJob(tx, caller, id, "lock");
      if (!CANCELLABLE.includes(status)) throw new AppError("conflict", `a job that is ${status} cannot be cancelled`);
      await emptyChunks(tx, caller.orgId, id);
      const row = await cancelLockedJob(tx, caller.orgId, id);
      return encodeJob(row, await partsOf(tx, row));
    });
    return { job };
  };
}
