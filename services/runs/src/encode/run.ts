import type { MessageInitShape } from "@bufbuild/protobuf";
import type { RunSchema } from "@tidemark/proto/runs/v1/runs";
import type { ExactObject } from "../documents/exact-json.rules.ts";
import { notesOf } from "../documents/run-notes.rules.ts";
import type { LifecycleRow, RunRow } from "../store/run-row.ts";
import { present } from "./present.ts";

const utf8 = new TextEncoder();

/** A run row as its message. */
export function encodeRun(row: RunRow): MessageInitShape<typeof RunSchema> {
  const metadata = utf8.encode(row.metadata);
  return {
    id: row.id,
    orgId: row.org_id,
    projectId: row.project_id,
    project: row.project,
    name: row.name,
    status: row.status,
    configJson: utf8.encode(row.config),
    tags: row.tags,
    metadataJson: metadata,
    createdAt: row.created_at,
    startedAt: row.started_at,
    resumeCount: row.resume_count,
    lifecycle: (JSON.parse(row.lifecycle) as LifecycleRow[]).map((entry) => ({
      statusFrom: entry.status_from,
      statusTo: entry.status_to,
      at: entry.at,
      kind: entry.kind,
    })),
    ...present({
      // Reading the whole document for one member is worth it only where the member can be.
      notes: row.metadata.includes('"notes":') ? notesOf(JSON.parse(row.metadata) as ExactObject) : undefined,
      finishedAt: row.finished_at,
      parentRunId: row.parent_run_id,
      forkedFromStep: row.forked_from_step,
      forkedFromArtifactId: row.forked_from_artifact_id,
      resumedAt: row.resumed_at,
    }),
  };
}
