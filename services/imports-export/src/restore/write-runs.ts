import type { LineOf } from "@tidemark/archive";
import { present } from "@tidemark/values";
import { IMPORT_LIMITS } from "@tidemark/limits";
import { runMembersOf } from "@tidemark/run-state";
import { BYTES_TOGETHER_MAX, slicesOf } from "../commit/slices.rules.ts";
import { linesOfKinds, type LineWriter, type RestoreClients } from "./line-writer.ts";
import type { NewIds } from "./new-ids.rules.ts";

const utf8 = new TextEncoder();

/** Creates the writer of runs. */
export function createRunsWriter(runs: Pick<RestoreClients["runs"], "restoreRuns">): LineWriter {
  return async (lines, _name, ids, ask) => {
    const ofProjects = Map.groupBy(linesOfKinds(lines, "run"), ({ project_id }) => project_id);
    for (const [project, rows] of ofProjects) {
      const projectId = ids.of("project", project);
      const weightOf = ({ config, metadata, readme = "" }: LineOf<"run">): number =>
        2 * (config.length + metadata.length + readme.length);
      for (const slice of slicesOf(rows, IMPORT_LIMITS.runsTogetherMax, BYTES_TOGETHER_MAX, weightOf)) {
        const request = { projectId, runs: slice.map((row) => messageOf(row, ids)) };
        await ask((call) => runs.restoreRuns(request, call));
      }
    }
    return [];
  };
}

function messageOf(row: LineOf<"run">, ids: NewIds) {
  const { stop } = row;
  return {
    run: {
      id: ids.of("run", row.id),
      name: row.name,
      status: row.status,
      configJson: utf8.encode(row.config),
      tags: [...row.tags],
      // The server has written the parent of the fork into it.
      metadataJson: utf8.encode(row.parent_run_id === undefined ? row.metadata : ids.inDocument(row.metadata)),
      createdAt: row.created_at,
      startedAt: row.started_at,
      resumeCount: row.resume_count,
      lifecycle: row.lifecycle.map(({ status_from, status_to, at, kind }) => ({
        statusFrom: status_from,
        statusTo: status_to,
        at,
        kind,
      })),
      ...runMembersOf({
        ...row,
        parent_run_id: row.parent_run_id && ids.of("run", row.parent_run_id),
        forked_from_artifact_id: row.forked_from_artifact_id && ids.of("artifact", row.forked_from_artifact_id),
      }),
    },
    readme: row.readme ?? "",
    runControl:
      stop === undefined
        ? { stopState: "none" }
        : {
            stopState: stop.state,
            stopRequestId: stop.request_id,
            details: present({ reason: stop.reason, completionMessage: stop.completion_message }),
            ...present({
              actor: stop.actor,
              stopRequestedAt: stop.requested_at,
              stopAcknowledgedAt: stop.acknowledged_at,
              stopCompletedAt: stop.completed_at,
              updatedAt: stop.updated_at,
            }),
          },
  };
}
