import { doublesOfBytes, type LineOf } from "@tidemark/archive";
import { REDACTION_STATES, SPAN_KINDS, SPAN_STATUSES } from "@tidemark/limits";
import type { ExportedCollection, ExportedVersion } from "@tidemark/proto/artifacts/v1/archive";
import type { Artifact } from "@tidemark/proto/artifacts/v1/artifacts";
import type { ArtifactEdge, ArtifactEntry } from "@tidemark/proto/artifacts/v1/versions";
import type { ExportLogLinesResponse, ExportRankPointsResponse } from "@tidemark/proto/ingest/v1/archive";
import type { Attribute } from "@tidemark/proto/ingest/v1/ingest";
import type { RichObject } from "@tidemark/proto/ingest/v1/objects";
import type { Report } from "@tidemark/proto/reports/v1/reports";
import type { View } from "@tidemark/proto/reports/v1/views";
import type { ExportedRun } from "@tidemark/proto/runs/v1/archive";
import type { Project } from "@tidemark/proto/runs/v1/runs";
import type { ExportedSpan } from "@tidemark/proto/traces/v1/archive";
import { runFieldsOf } from "@tidemark/run-state";

/*
 * Turns messages of the owners into lines. The texts of a message were checked by its owner when they were stored.
 */

const utf8 = new TextDecoder();

/** Returns the text of a document; no bytes stand for the empty document. */
const documentOf = (json: Uint8Array): string => (json.length === 0 ? "{}" : utf8.decode(json));
const documentIfAny = (json: Uint8Array): string | undefined => (json.length === 0 ? undefined : utf8.decode(json));
const textIfAny = (text: string): string | undefined => (text === "" ? undefined : text);
const numberIfAny = (value: bigint | undefined): number | undefined =>
  value === undefined ? undefined : Number(value);
const timesIfAny = (bytes: Uint8Array): Float64Array | undefined =>
  bytes.length === 0 ? undefined : doublesOfBytes(bytes);

/** Returns the line of a project. */
export function projectLine({ id, name, description, createdAt }: Project): LineOf<"project"> {
  return { line: "project", id, name, description, created_at: createdAt };
}

/** Returns the line of a run. */
export function runLine({ run, runControl, readme }: ExportedRun): LineOf<"run"> {
  const row = run!;
  return {
    line: "run",
    id: row.id,
    project_id: row.projectId,
    name: row.name,
    status: row.status as LineOf<"run">["status"],
    config: documentOf(row.configJson),
    tags: row.tags,
    metadata: documentOf(row.metadataJson),
    created_at: row.createdAt,
    started_at: row.startedAt,
    ...runFieldsOf(row, undefined),
    resume_count: row.resumeCount,
    lifecycle: row.lifecycle.map(({ statusFrom, statusTo, at, kind }) => ({
      status_from: statusFrom,
      status_to: statusTo,
      at,
      kind,
    })),
    stop: stopOf(runControl!),
    readme: textIfAny(readme),
  };
}

function stopOf(control: NonNullable<ExportedRun["runControl"]>): LineOf<"run">["stop"] {
  if (control.stopRequestId === undefined) return undefined;
  type Stop = NonNullable<LineOf<"run">["stop"]>;
  return {
    state: control.stopState as Stop["state"],
    request_id: control.stopRequestId,
    reason: control.details?.reason,
    completion_message: control.details?.completionMessage,
    actor: control.actor as Stop["actor"],
    requested_at: control.stopRequestedAt,
    acknowledged_at: control.stopAcknowledgedAt,
    completed_at: control.stopCompletedAt,
    updated_at: control.updatedAt,
  };
}

/** Returns the line of a key that ranks reported. */
export function rankPointsLine(message: ExportRankPointsResponse): LineOf<"rank_points"> {
  return {
    line: "rank_points",
    run_id: message.runId,
    key: message.key,
    columns: {
      step: doublesOfBytes(message.steps),
      value: doublesOfBytes(message.values),
      rank: doublesOfBytes(message.ranks),
      world_size: doublesOfBytes(message.worldSizes),
      local_rank: doublesOfBytes(message.localRanks),
      weight: doublesOfBytes(message.weights),
      timestamp: timesIfAny(message.timestampsUs),
      created_at: doublesOfBytes(message.createdUs),
    },
  };
}

/** Returns the line of some console lines, `[from, to)` of a message. */
export function consoleLine(message: ExportLogLinesResponse, from: number, to: number): LineOf<"lines"> {
  const times = timesIfAny(message.timestampsUs)?.subarray(from, to);
  return {
    line: "lines",
    run_id: message.runId,
    stream: message.stream as LineOf<"lines">["stream"],
    columns: {
      line_number: doublesOfBytes(message.lineNumbers).subarray(from, to),
      message: message.messages.slice(from, to),
      timestamp: times?.every(Number.isNaN) === true ? undefined : times,
      created_at: doublesOfBytes(message.createdUs).subarray(from, to),
    },
  };
}

/** Returns the line of an attribute. */
export function attributeLine(row: Attribute): LineOf<"attribute"> {
  return {
    line: "attribute",
    id: row.id,
    run_id: row.runId,
    path: row.path,
    attribute_type: row.type,
    step: row.step,
    logged_at: row.loggedAt,
    value: documentOf(row.valueJson),
    summary: documentOf(row.summaryJson),
    created_at: row.createdAt,
    artifact_id: textIfAny(row.artifactId),
  };
}

/** Returns the line of an object, without the rows of a table. */
export function objectLine(row: RichObject): LineOf<"object"> {
  return {
    line: "object",
    id: row.id,
    run_id: row.runId,
    key: row.key,
    kind: row.kind,
    step: row.step,
    artifact_id: textIfAny(row.artifactId),
    value: documentOf(row.valueJson),
    metadata: documentOf(row.metadataJson),
    summary: documentOf(row.summaryJson),
    created_at: row.createdAt,
  };
}

/** Returns the line of a plain artifact. The address of one that the installation keeps is derived from its id, so it is left out. */
export function artifactLine(row: Artifact): LineOf<"artifact"> {
  return {
    line: "artifact",
    id: row.id,
    run_id: row.runId,
    artifact_type: row.type,
    name: row.name,
    step: row.step,
    mime_type: row.mimeType,
    size_bytes: numberIfAny(row.sizeBytes),
    sha256: row.sha256,
    uri: row.storageBackend === "external" ? row.uri : undefined,
    metadata: documentOf(row.metadataJson),
    created_at: row.createdAt,
  };
}

/** Returns the line of a collection. */
export function collectionLine(row: ExportedCollection): LineOf<"collection"> {
  return {
    line: "collection",
    id: row.id,
    project_id: row.projectId,
    collection_type: row.type,
    name: row.name,
    description: row.description,
    metadata: documentOf(row.metadataJson),
    next_index: row.nextIndex,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  };
}

/** Returns the line of a version, without its entries and edges. */
export function versionLine(row: ExportedVersion): LineOf<"version"> {
  return {
    line: "version",
    id: row.id,
    collection_id: row.collectionId,
    version_index: row.versionIndex,
    digest: row.digest,
    source_run_id: row.sourceRunId,
    source_step: row.sourceStep,
    file_count: row.fileCount,
    size_bytes: Number(row.sizeBytes),
    state: row.state as LineOf<"version">["state"],
    aliases: row.aliases,
    ttl_days: row.ttlDays,
    retention_mode: row.retentionMode as LineOf<"version">["retention_mode"],
    expires_at: row.expiresAt,
    delete_requested_at: row.deleteRequestedAt,
    deleted_at: row.deletedAt,
    purge_after: row.purgeAfter,
    purged_at: row.purgedAt,
    audit_reason: row.auditReason,
    created_at: row.createdAt,
  };
}

/** An entry of a version. */
export function entryOf(row: ArtifactEntry): LineOf<"version.entries">["entries"][number] {
  return {
    id: row.id,
    path: row.path,
    kind: row.kind as LineOf<"version.entries">["entries"][number]["kind"],
    size_bytes: numberIfAny(row.sizeBytes),
    sha256: row.sha256,
    mime_type: row.mimeType,
    reference_uri: row.referenceUri,
  };
}

/** An edge of a version. */
export function edgeOf(row: ArtifactEdge): LineOf<"version.edges">["edges"][number] {
  return {
    id: row.id,
    run_id: row.runId,
    direction: row.direction as LineOf<"version.edges">["edges"][number]["direction"],
    source: row.source,
    created_at: row.createdAt,
  };
}

/** The data of a span in an event. */
export function spanOf(exported: ExportedSpan): LineOf<"trace.spans">["spans"][number] {
  const row = exported.span!;
  const sequences = {
    parent: exported.parentSequence,
    ended: exported.endedSequence,
    duration: exported.durationSequence,
    step: exported.stepSequence,
    rank: exported.rankSequence,
  };
  return {
    span_id: row.spanId,
    sequence: exported.sequence,
    sequences: Object.values(sequences).every((sequence) => sequence === undefined) ? undefined : sequences,
    parent_span_id: textIfAny(row.parentSpanId),
    name: row.name,
    kind: SPAN_KINDS[row.kind - 1]!,
    status: SPAN_STATUSES[row.status - 1]!,
    started_at: row.startedUs,
    ended_at: row.endedUs,
    duration_ms: row.durationMs,
    step: row.step,
    rank: row.rank,
    thread_id: textIfAny(row.threadId),
    rollout_id: textIfAny(row.rolloutId),
    error_type: textIfAny(row.errorType),
    attributes: documentIfAny(row.attributesJson),
    metrics: documentIfAny(row.metricsJson),
    links: documentIfAny(row.linksJson),
    input_preview: textIfAny(row.inputPreview),
    output_preview: textIfAny(row.outputPreview),
    error_preview: textIfAny(row.errorPreview),
    previews: row.previews,
    redaction_state: REDACTION_STATES[row.redactionState - 1]!,
    truncated: row.truncated,
  };
}

/** Returns the line of a report. Its share token is not part of it. */
export function reportLine(row: Report): LineOf<"report"> {
  return {
    line: "report",
    id: row.id,
    project_id: row.projectId!,
    title: row.title,
    description: row.description,
    visibility: row.visibility as LineOf<"report">["visibility"],
    author_user_id: row.authorUserId,
    blocks: utf8.decode(row.blocksJson),
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  };
}

/** Returns the line of a view. */
export function viewLine(row: View): LineOf<"view"> {
  return {
    line: "view",
    id: row.id,
    name: row.name,
    project: row.project,
    payload: utf8.decode(row.payloadJson),
    visibility: row.visibility === "organization" ? row.visibility : undefined,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  };
}
