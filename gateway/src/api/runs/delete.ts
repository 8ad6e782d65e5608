import type { DeleteRunResponse, Run, UndeleteRunResponse } from "@tidemark/proto/runs/v1/runs";
import type { Call } from "@tidemark/rpc";
import type { Clients } from "../../clients.ts";
import type { RouteInput, RouteReply, Schema } from "../../route.ts";
import { deletionJson, deletionQuery, removedJson, withDeletion, type Removed } from "../deletion/deletion.ts";
import { measureRemoved } from "../deletion/measure.ts";
import { requireMessage } from "../replies.ts";
import { pathRunId } from "./read.ts";
import { runJson, runSchema } from "./rows.ts";
import { afterRunChange } from "./after-run-change.ts";

/** A run row that says whether it is deleted. */
export const deletableRunSchema: Schema = withDeletion(runSchema);

/** DELETE /runs/{run_id}. @throws bad_request */
export function decodeDeleteRun(input: RouteInput): { runId: string; dryRun: boolean } {
  return { runId: pathRunId(input), dryRun: deletionQuery.read(input.query).dryRun };
}

/** Deletes a run, or measures what would be removed. */
export async function deleteRun(
  clients: Clients,
  request: { readonly runId: string; readonly dryRun: boolean },
  call: Call,
): Promise<DeleteRunResponse | Removed> {
  if (!request.dryRun) return afterRunChange(clients.runs.deleteRun(request, call), clients, call);
  await clients.runs.deleteRun(request, call);
  return measureRemoved(clients, { runId: request.runId }, call);
}

/** `{run}`, or `{counts, bytes}` of a dry run. */
export function encodeDeleteRun(reply: DeleteRunResponse | Removed): RouteReply {
  return "points" in reply ? { body: removedJson(reply) } : encodeRestoreRun(reply);
}

/** POST /runs/{run_id}/restore. */
export function decodeRestoreRun(input: RouteInput): { runId: string } {
  return { runId: pathRunId(input) };
}

/** `{run}`. */
export function encodeRestoreRun({ run }: DeleteRunResponse | UndeleteRunResponse): RouteReply {
  const row: Run = requireMessage(run);
  return { body: { run: { ...runJson(row), ...deletionJson(row.deletion) } } };
}
