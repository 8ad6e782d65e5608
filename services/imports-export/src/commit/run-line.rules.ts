import type { LineOf } from "@tidemark/archive";
import type { SourceRun } from "../content/content.rules.ts";

/** Where a run of another tracker is imported. */
export type RunPlace = { readonly id: string; readonly projectId: string; readonly importedUs: number };

/**
 * Returns a run of another tracker as a line of an archive, because both are stored by the same writer. Times are microseconds since the epoch. A run begins
 * when its source says, else when it ended, else with the import; one that is not running has an end, which is not before its start.
 */
export function runLineOf(run: SourceRun, { id, projectId, importedUs }: RunPlace): LineOf<"run"> {
  const { name, status, config, tags, metadata } = run;
  const endedUs = status === "running" ? null : run.finishedUs;
  const startedUs = run.startedUs ?? endedUs ?? importedUs;
  return {
    line: "run",
    id,
    project_id: projectId,
    name,
    status,
    config,
    tags,
    metadata,
    created_at: timeText(importedUs),
    started_at: timeText(startedUs),
    finished_at: status === "running" ? undefined : timeText(Math.max(endedUs ?? importedUs, startedUs)),
    parent_run_id: undefined,
    forked_from_step: undefined,
    forked_from_artifact_id: undefined,
    resumed_at: undefined,
    resume_count: 0,
    lifecycle: [],
    stop: undefined,
    readme: undefined,
  };
}

/** Writes whole microseconds since the epoch as RFC 3339 in UTC. */
export function timeText(micros: number): string {
  const seconds = Math.floor(micros / 1_000_000);
  const decimals = String(micros - seconds * 1_000_000).padStart(6, "0");
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}.${decimals}Z`;
}
