import { badRequest, notFound } from "@tidemark/errors";
import { EXPORT_LIMITS, RESTORE_LIMITS } from "@tidemark/limits";
import type { Call } from "@tidemark/rpc";
import { callerOf, isUuid, pathId, type Caller } from "./requests.ts";
import type { RunDirectory } from "./run-directory.ts";

/** Checks the ids of runs that one request of an export names. @throws bad_request */
export function requireExportedIds(runIds: readonly string[]): void {
  const { selectedRunIds } = EXPORT_LIMITS;
  if (runIds.length > selectedRunIds || !runIds.every(isUuid)) {
    throw badRequest(`at most ${selectedRunIds} run ids`, "run_ids");
  }
}

/** Returns the organization and the runs of a request. @throws bad_request, not_found unless the caller may see all runs */
export async function exportedRuns(
  runs: RunDirectory,
  runIds: readonly string[],
  call: Call,
): Promise<{ readonly orgId: string; readonly runIds: readonly string[] }> {
  const caller = callerOf(call);
  requireExportedIds(runIds);
  await runs.require(caller, runIds);
  return { orgId: caller.orgId, runIds };
}

/** Checks how many rows one request of a restore has. @throws bad_request for none, and for too many */
export function requireRows(rows: readonly unknown[]): void {
  if (rows.length < 1 || rows.length > RESTORE_LIMITS.idsTogetherMax) {
    throw badRequest(`1 to ${RESTORE_LIMITS.idsTogetherMax} rows may come together`);
  }
}

/** A run, all runs of a project, or with neither all runs of the organization. */
type RemovalScope = { readonly runId: string | undefined; readonly projectId: string | undefined };

/** Returns the scope whose size a caller asks for. @throws not_found unless the run exists and the caller may see it, or the project may be the caller's */
export async function readRemovalScope(
  runs: RunDirectory,
  caller: Caller,
  request: { readonly runId: string; readonly projectId: string },
): Promise<RemovalScope> {
  if (request.runId !== "") {
    const runId = pathId(request.runId, "run");
    await runs.require(caller, [runId]);
    return { runId, projectId: undefined };
  }
  if (request.projectId === "") return { runId: undefined, projectId: caller.projectId };
  const projectId = pathId(request.projectId, "project");
  if (caller.projectId !== undefined && caller.projectId !== projectId) throw notFound("project");
  return { runId: undefined, projectId };
}
