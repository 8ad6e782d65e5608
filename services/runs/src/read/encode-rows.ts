import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  MetricAggregatesSchema,
  RunControlSchema,
  RunSchema,
  RunSummarySchema,
  ProjectSchema,
  DeletionSchema,
} from "@tidemark/proto/runs/v1/runs";
import { isStopRequested, runMembersOf, type StopState } from "@tidemark/run-state";
import type { ExactObject } from "@tidemark/documents";
import { present } from "@tidemark/values";
import { notesOf } from "../documents/run-notes.rules.ts";
import type { Staleness } from "../life/staleness.rules.ts";
import { metricKeysOf, numberColumnsOf, type MetricRow } from "../metrics/aggregates.rules.ts";
import type { ArtifactCountsRow } from "./summaries.sql.ts";
import type { LifecycleRow, RunRow } from "./runs.sql.ts";
import type { ProjectRow } from "../projects/projects.sql.ts";

const utf8 = new TextEncoder();

/** Encodes a run without its metrics. */
export function encodeRun(row: RunRow, staleness: Staleness): MessageInitShape<typeof RunSchema> {
  const metadata = utf8.encode(row.metadata);
  // The document is parsed only if it can have the member.
  const notes = row.metadata.includes('"notes":') ? notesOf(JSON.parse(row.metadata) as ExactObject) : undefined;
  return {
    id: row.id,
    orgId: row.org_id,
    projectId: row.project_id,
    project: row.project,
    projectNumber: BigInt(row.project_number),
    name: row.name,
    status: row.status,
    configJson: utf8.encode(row.config),
    tags: row.tags,
    metadataJson: metadata,
    createdAt: row.created_at,
    startedAt: row.started_at,
    resumeCount: row.resume_count,
    lastSeenAt: staleness.lastSeenAt(row),
    stale: staleness.isStale(row),
    ...deletionOf(row),
    lifecycle: (JSON.parse(row.lifecycle) as LifecycleRow[]).map((entry) => ({
      statusFrom: entry.status_from,
      statusTo: entry.status_to,
      at: entry.at,
      kind: entry.kind,
    })),
    ...runMembersOf(row),
    ...(notes === undefined ? {} : { notes }),
  };
}

/** Encodes a run with its summary; reason and message of a stop only with `stopDetails`. */
export function encodeRunSummary(
  row: RunRow & MetricRow & ArtifactCountsRow,
  staleness: Staleness,
  options: { readonly stopDetails?: boolean; readonly nextCursor?: string } = {},
): MessageInitShape<typeof RunSummarySchema> {
  return {
    run: encodeRun(row, staleness),
    runControl: encodeRunControl(row, options.stopDetails === true),
    metrics: encodeMetrics(row, options.nextCursor ?? ""),
    artifactCounts: {
      checkpoint: BigInt(row.checkpoint_artifacts),
      rollout: BigInt(row.rollout_artifacts),
      file: BigInt(row.file_artifacts),
    },
  };
}

/** Encodes the state of a run's stop request; its free texts only with `details`. */
export function encodeRunControl(row: RunRow, details: boolean): MessageInitShape<typeof RunControlSchema> {
  return {
    stopState: row.stop_state,
    displayStatus: row.display_status,
    stopRequested: isStopRequested(row.stop_state as StopState),
    ...present({
      stopRequestId: row.stop_request_id,
      actor: row.stop_actor,
      stopRequestedAt: row.stop_requested_at,
      stopAcknowledgedAt: row.stop_acknowledged_at,
      stopCompletedAt: row.stop_completed_at,
      updatedAt: row.stop_updated_at,
      details: details
        ? present({ reason: row.stop_reason, completionMessage: row.stop_completion_message })
        : undefined,
    }),
  };
}

/** Encodes a page of metric aggregates as columns. */
function encodeMetrics(row: MetricRow, nextCursor: string): MessageInitShape<typeof MetricAggregatesSchema> {
  return { ...numberColumnsOf(row), keys: metricKeysOf(row), keysTotal: BigInt(row.metric_total), nextCursor };
}

/** Encodes a project. */
export function encodeProject(row: ProjectRow): MessageInitShape<typeof ProjectSchema> {
  return {
    id: row.id,
    orgId: row.org_id,
    name: row.name,
    createdAt: row.created_at,
    number: BigInt(row.number),
    metadataJson: utf8.encode(row.metadata),
    updatedAt: row.updated_at,
    ...(row.description === null ? {} : { description: row.description }),
    ...deletionOf(row),
  };
}

/** Returns the message field that marks a row as deleted; no field for a row that is not deleted. */
function deletionOf(row: { readonly deleted_at: string | null; readonly purge_after: string | null }): {
  deletion?: MessageInitShape<typeof DeletionSchema>;
} {
  const { deleted_at: deletedAt, purge_after: purgeAfter } = row;
  return deletedAt === null || purgeAfter === null ? {} : { deletion: { deletedAt, purgeAfter } };
}
