import { AppError } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import { ChangeKind } from "@tidemark/proto/changes/v1/changes";
import { callerOf, canSee, forgetRuns, refuseUnpaid, type Caller } from "@tidemark/requests";
import { inHundreds } from "../bulk-update/in-hundreds.ts";
import type { RunsDeps, RunsHandlers } from "../deps.ts";
import { recordTransfer } from "../deletion/deletions.ts";
import { requireProjectName, resolveProject } from "../projects/resolve-project.ts";
import { lockRunStates } from "../update/run-changes.sql.ts";
import { moveRows } from "./moved-runs.sql.ts";

/**
 * Moves runs to another project of the organization, which is made when it is missing, as `inHundreds` does. What other services keep of them
 * has followed when this returns or, for very much of it, some seconds later.
 * @throws forbidden for project-scoped keys, bad_request, run_search_invalid, run_search_too_broad, payment_required, plan_limit_exceeded,
 *   idempotency_key_reused, idempotency_in_progress
 */
export function moveRuns(deps: RunsDeps): RunsHandlers["moveRuns"] {
  const { db, plans, newId, noteChange, runFollower } = deps;
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    if (caller.projectId !== undefined) throw new AppError("forbidden", "a project-scoped key cannot move runs");
    requireProjectName(request.project, "project");
    refuseUnpaid(caller);
    const wish = { name: request.project, description: undefined, newId: newId(), runs: 0 };
    const toProject = request.dryRun
      ? ""
      : (await db.withTenant(orgId, (tx) => resolveProject(tx, caller, plans, wish))).id;
    const answer = await inHundreds(deps, call, request, {
      route: "POST /api/runs/move",
      async change(tx, runIds) {
        const moved = await moveTogether(tx, caller, runIds, toProject);
        if (moved !== undefined) {
          await recordTransfer(tx, call, { action: "run.moved", toProject, homes: [...moved.values()] });
        }
        return moved;
      },
      onChanged(moved) {
        for (const [runId, projectId] of moved) {
          forgetRuns({ projectId, runId });
          noteChange({ orgId, projectId, runId, kind: ChangeKind.RUN });
          noteChange({ orgId, projectId: toProject, runId, kind: ChangeKind.RUN });
        }
      },
    });
    if (!request.dryRun) await runFollower.settle(orgId);
    return answer;
  };
}

/** Moves all of these runs and returns the project that each was in; undefined, and nothing is moved, when one of them or a project is not there. */
async function moveTogether(
  tx: Tx,
  caller: Caller,
  ids: readonly string[],
  toProject: string,
): Promise<ReadonlyMap<string, string> | undefined> {
  const { orgId } = caller;
  const locked = await lockRunStates(tx, orgId, ids);
  if (locked.length < ids.length || !locked.every(({ projectId }) => canSee(caller, { orgId, projectId })))
    return undefined;
  const moving = locked.filter(({ projectId }) => projectId !== toProject);
  if (moving.length > 0 && !(await moveRows(tx, orgId, moving, toProject))) return undefined;
  return new Map(moving.map(({ id, projectId }) => [id, projectId]));
}
