import { canonicalInTurns } from "@tidemark/documents";
import { badRequest } from "@tidemark/errors";
import type { ExportedRun } from "@tidemark/proto/runs/v1/archive";
import { isUuid } from "@tidemark/requests";
import { README_BYTES_MAX } from "@tidemark/limits";
import { LIFECYCLE_ENTRIES_MAX, RUN_STATUSES, runFieldsOf, STOP_STATES } from "@tidemark/run-state";
import { NAME_BYTES_MAX } from "./run-name.rules.ts";
import type { RestoredRunRow } from "./restored-runs.sql.ts";

/** Returns the row of an archived run. @throws bad_request for values that no run can have */
export async function restoredRow({ run, runControl: stop }: ExportedRun): Promise<RestoredRunRow> {
  if (run === undefined) throw badRequest("a run is missing", "runs");
  if (!isUuid(run.id)) throw badRequest("id must be a canonical UUID", "runs");
  if (!(RUN_STATUSES as readonly string[]).includes(run.status)) throw badRequest("the status is unknown", "runs");
  if (run.status !== "running" && run.finishedAt === undefined) {
    throw badRequest("a run that has ended has a finished_at", "runs");
  }
  const nameBytes = Buffer.byteLength(run.name);
  if (nameBytes < 1 || nameBytes > NAME_BYTES_MAX)
    throw badRequest(`name must have 1 to ${NAME_BYTES_MAX} bytes`, "runs");
  if (run.lifecycle.length > LIFECYCLE_ENTRIES_MAX) {
    throw badRequest(`lifecycle must have at most ${LIFECYCLE_ENTRIES_MAX} entries`, "runs");
  }
  const state = stop?.stopState ?? "none";
  if (!(STOP_STATES as readonly string[]).includes(state)) throw badRequest("the stop state is unknown", "runs");
  if ((state === "none") !== (stop?.stopRequestId === undefined)) {
    throw badRequest("a stop has a state and a request id", "runs");
  }
  return {
    id: run.id,
    name: run.name,
    status: run.status,
    config: await canonicalInTurns(run.configJson, "config"),
    tags: run.tags,
    metadata: await canonicalInTurns(run.metadataJson, "metadata"),
    created_at: run.createdAt,
    started_at: run.startedAt,
    resume_count: run.resumeCount,
    lifecycle: run.lifecycle.map(({ statusFrom, statusTo, at, kind }) => ({
      status_from: statusFrom,
      status_to: statusTo,
      at,
      kind,
    })),
    ...runFieldsOf(run, undefined),
    stop_state: state,
    stop_request_id: stop?.stopRequestId,
    stop_reason: stop?.details?.reason,
    stop_completion_message: stop?.details?.completionMessage,
    stop_actor: stop?.actor,
    stop_requested_at: stop?.stopRequestedAt,
    stop_acknowledged_at: stop?.stopAcknowledgedAt,
    stop_completed_at: stop?.stopCompletedAt,
    stop_updated_at: stop?.updatedAt,
  };
}

/** Returns the readme of an archived run, if it has one. @throws bad_request for a longer one than a run can have */
export function restoredReadme({ run, readme }: ExportedRun): { runId: string; markdown: string }[] {
  if (readme === "") return [];
  if (Buffer.byteLength(readme) > README_BYTES_MAX) {
    throw badRequest(`a readme must have at most ${README_BYTES_MAX} bytes`, "runs");
  }
  return [{ runId: run!.id, markdown: readme }];
}
