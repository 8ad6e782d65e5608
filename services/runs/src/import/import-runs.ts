import { canonicalInTurns } from "@tidemark/documents";
import { badRequest, notFound } from "@tidemark/errors";
import { IMPORT_LIMITS } from "@tidemark/limits";
import { ChangeKind } from "@tidemark/proto/changes/v1/changes";
import type { ImportedRun } from "@tidemark/proto/runs/v1/runs";
import { callerOf, canSee, isUuid, pathId } from "@tidemark/requests";
import { createPauses } from "@tidemark/work";
import type { RunsDeps, RunsHandlers } from "../deps.ts";
import { findProject } from "../projects/projects.sql.ts";
import { chooseProjectName, resolveProject } from "../projects/resolve-project.ts";
import { insertImportedRuns, type ImportedRunRow } from "./imported-runs.sql.ts";

/** RunsService.PrepareImport. @throws forbidden, payment_required, plan_limit_exceeded */
export function prepareImport({
  db,
  plans,
  newId,
}: Pick<RunsDeps, "db" | "plans" | "newId">): RunsHandlers["prepareImport"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const project = await db.withTenant(caller.orgId, async (tx) =>
      resolveProject(tx, caller, plans, {
        name: await chooseProjectName(tx, caller, request.project),
        description: undefined,
        newId: newId(),
        runs: request.newRuns,
      }),
    );
    return { projectId: project.id };
  };
}

/** RunsService.ImportRuns. @throws not_found, bad_request */
export function importRuns({ db, noteChange }: Pick<RunsDeps, "db" | "noteChange">): RunsHandlers["importRuns"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const projectId = pathId(request.projectId, "project");
    if (!canSee(caller, { orgId, projectId })) throw notFound("project");
    const { runs } = request;
    if (runs.length < 1 || runs.length > IMPORT_LIMITS.runsTogetherMax) {
      throw badRequest(`runs must have 1 to ${IMPORT_LIMITS.runsTogetherMax} items`, "runs");
    }
    if (new Set(runs.map(({ id }) => id)).size < runs.length) throw badRequest("runs must have different ids", "runs");
    const rows: ImportedRunRow[] = [];
    const pauseIfLong = createPauses();
    for (const run of runs) {
      rows.push(await rowOf(run));
      await pauseIfLong();
    }
    const created = await db.withTenant(orgId, async (tx) => {
      if ((await findProject(tx, orgId, projectId)) === undefined) throw notFound("project");
      return insertImportedRuns(tx, orgId, projectId, rows);
    });
    for (const { id: runId } of rows) noteChange({ orgId, projectId, runId, kind: ChangeKind.RUN });
    return { created };
  };
}

const STATUSES = ["running", "finished", "failed"];
const NAME_BYTES_MAX = 512;

async function rowOf(run: ImportedRun): Promise<ImportedRunRow> {
  const { id, name, status, tags, startedUs = Number.NaN, finishedUs = Number.NaN } = run;
  if (!isUuid(id)) throw badRequest("id must be a canonical UUID", "runs");
  if (!STATUSES.includes(status)) throw badRequest(`status must be one of ${STATUSES.join(", ")}`, "runs");
  const nameBytes = Buffer.byteLength(name);
  if (nameBytes < 1 || nameBytes > NAME_BYTES_MAX) throw badRequest("name must have 1 to 512 bytes", "runs");
  return {
    id,
    name,
    status,
    config: await canonicalInTurns(run.configJson, "config"),
    tags,
    metadata: await canonicalInTurns(run.metadataJson, "metadata"),
    startedUs,
    finishedUs,
  };
}
