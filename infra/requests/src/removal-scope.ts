import { notFound } from "@tidemark/errors";
import { pathId, type Caller } from "./requests.ts";
import type { RunDirectory } from "./run-directory.ts";

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
