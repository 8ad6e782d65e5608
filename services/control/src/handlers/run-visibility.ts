import { notFound } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import { findRuns } from "../store/find-runs.ts";
import type { RunCaller } from "./run-caller.ts";

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Tells whether a text can be the id of a run at all: a UUID in lower case with hyphens. */
export function isRunId(text: string): boolean {
  return uuid.test(text);
}

/** Tells whether the caller may see a run of its organization that is in this project. */
export function maySee({ projectId }: RunCaller, run: { readonly projectId: string }): boolean {
  return projectId === undefined || projectId === run.projectId;
}

/** Those of the runs that exist and that the caller may see. A run never changes its project. */
export async function visibleRuns(tx: Tx, caller: RunCaller, runIds: readonly string[]): Promise<Set<string>> {
  const found = await findRuns(tx, caller.orgId, runIds);
  return new Set(found.filter((run) => maySee(caller, { projectId: run.project_id })).map(({ id }) => id));
}

/** @throws not_found for a run that is not there, or that the caller may not see */
export async function requireRun(tx: Tx, caller: RunCaller, runId: string): Promise<void> {
  if (!(await visibleRuns(tx, caller, [runId])).has(runId)) throw notFound("run");
}
