import { AppError, notFound } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import { ChangeKind } from "@tidemark/proto/changes/v1/changes";
import { callerOf, forgetRuns, pathId, type Caller } from "@tidemark/requests";
import type { RunsDeps, RunsHandlers } from "../deps.ts";
import { encodeRun } from "../read/encode-run.ts";
import { requireRun } from "../read/runs.sql.ts";
import { hideRuns, noteVisibility, seeDeleted, showRuns } from "./hidden-rows.sql.ts";
import { lockRunToDelete, markRun, unmarkRun, type DeletableRun } from "./marked-runs.sql.ts";
import { recordAudit } from "./record-audit.ts";

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
