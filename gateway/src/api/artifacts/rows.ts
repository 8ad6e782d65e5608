import type { Artifact } from "@tidemark/proto/artifacts/v1/artifacts";
import type {
  ArtifactCollection,
  ArtifactEntry,
  ArtifactVersion,
  ListPage,
} from "@tidemark/proto/artifacts/v1/versions";
import { ARTIFACT_TYPES, COLLECTION_TYPES, RETENTION_MODES } from "@tidemark/limits";
import { raw, type Json } from "../../http/json.ts";
import type { Schema } from "../../route.ts";
import {
  booleanSchema,
  countSchema,
  listSchema,
  numberOrNullSchema,
  objectSchema,
  textOrNullSchema,
  textSchema,
  timeOrNullSchema,
  timeSchema,
  uuidSchema,
} from "../replies.ts";

const utf8 = new TextDecoder();

/** Returns a document as it was sent. */
function document(bytes: Uint8Array): Json {
  return bytes.length === 0 ? {} : raw(utf8.decode(bytes));
}

const documentSchema: Schema = { type: "object" };

const countOrNullSchema: Schema = { type: ["integer", "null"], minimum: 0 };

const collectionTypeSchema: Schema = { type: "string", enum: COLLECTION_TYPES };

const backendSchema: Schema = {
  type: "string",
  enum: ["external", "local", "r2"],
  description: "Where the bytes are; `external`: not here.",
};

/** A plain artifact. */
export const artifactSchema = objectSchema({
  id: uuidSchema,
  org_id: uuidSchema,
  run_id: uuidSchema,
  type: { type: "string", enum: ARTIFACT_TYPES },
  name: textSchema,
  uri: textSchema,
  step: numberOrNullSchema,
  size_bytes: countOrNullSchema,
  sha256: textOrNullSchema,
  mime_type: textSchema,
  storage_backend: backendSchema,
  metadata: documentSchema,
  created_at: timeSchema,
});

export function artifactJson(artifact: Artifact): Json {
  return {
    id: artifact.id,
    org_id: artifact.orgId,
    run_id: artifact.runId,
    type: artifact.type,
    name: artifact.name,
    uri: artifact.uri,
    step: artifact.step ?? null,
    size_bytes: numberOrNull(artifact.sizeBytes),
    sha256: artifact.sha256 ?? null,
    mime_type: artifact.mimeType,
    storage_backend: artifact.storageBackend,
    metadata: document(artifact.metadataJson),
    created_at: artifact.createdAt,
  };
}

/** A version of a collection. */
export const versionSchema = objectSchema({
  id: uuidSchema,
  org_id: uuidSchema,
  project_id: uuidSchema,
  collection_id: uuidSchema,
  name: textSchema,
  type: collectionTypeSchema,
  version: { type: "string", pattern: "^v\\d+$" },
  version_index: countSchema,
  aliases: listSchema(textSchema),
  digest: { type: "string", pattern: "^sha256:[0-9a-f]{64}$" },
  source_run_id: uuidSchema,
  source_step: numberOrNullSchema,
  file_count: countSchema,
  size_bytes: countSchema,
  state: { type: "string", enum: ["active", "soft_deleted"] },
  metadata: documentSchema,
  ttl_days: countOrNullSchema,
  retention_mode: { type: "string", enum: RETENTION_MODES },
  expires_at: timeOrNullSchema,
  delete_requested_at: timeOrNullSchema,
  deleted_at: timeOrNullSchema,
  audit_reason: textOrNullSchema,
  created_at: timeSchema,
});

export function versionJson(version: ArtifactVersion): Json {
  return {
    id: version.id,
    org_id: version.orgId,
    project_id: version.projectId,
    collection_id: version.collectionId,
    name: version.name,
    type: version.type,
    version: `v${version.versionIndex}`,
    version_index: version.versionIndex,
    aliases: version.aliases,
    digest: version.digest,
    source_run_id: version.sourceRunId,
    source_step: version.sourceStep ?? null,
    file_count: version.fileCount,
    size_bytes: Number(version.sizeBytes),
    state: version.state,
    metadata: document(version.metadataJson),
    ttl_days: version.ttlDays ?? null,
    retention_mode: version.retentionMode,
    expires_at: version.expiresAt ?? null,
    delete_requested_at: version.deleteRequestedAt ?? null,
    deleted_at: version.deletedAt ?? null,
    audit_reason: version.auditReason ?? null,
    created_at: version.createdAt,
  };
}

const versionOrNullSchema: Schema = { oneOf: [versionSchema, { type: "null" }] };

/** A collection. */
export const collectionSchema = objectSchema({
  id: uuidSchema,
  org_id: uuidSchema,
  project_id: uuidSchema,
  project: textSchema,
  name: textSchema,
  type: collectionTypeSchema,
  description: textOrNullSchema,
  metadata: documentSchema,
  versions_count: countSchema,
  retained_bytes: countSchema,
  pending_delete_bytes: countSchema,
  latest_version: versionOrNullSchema,
  best_version: { ...versionOrNullSchema, description: "The one with the alias `best`." },
  created_at: timeSchema,
  updated_at: timeSchema,
});

export function collectionJson(collection: ArtifactCollection): Json {
  const { latestVersion, bestVersion } = collection;
  return {
    id: collection.id,
    org_id: collection.orgId,
    project_id: collection.projectId,
    project: collection.project,
    name: collection.name,
    type: collection.type,
    description: collection.description ?? null,
    metadata: document(collection.metadataJson),
    versions_count: collection.versionsCount,
    retained_bytes: Number(collection.retainedBytes),
    pending_delete_bytes: Number(collection.pendingDeleteBytes),
    latest_version: latestVersion === undefined ? null : versionJson(latestVersion),
    best_version: bestVersion === undefined ? null : versionJson(bestVersion),
    created_at: collection.createdAt,
    updated_at: collection.updatedAt,
  };
}

/** An entry of a manifest. */
export const entrySchema = objectSchema({
  id: uuidSchema,
  artifact_version_id: uuidSchema,
  path: textSchema,
  kind: { type: "string", enum: ["file", "directory", "reference"] },
  size_bytes: countOrNullSchema,
  sha256: textOrNullSchema,
  mime_type: textSchema,
  reference_uri: textOrNullSchema,
  storage_backend: backendSchema,
  downloadable: booleanSchema,
  created_at: timeSchema,
});

export function entryJson(entry: ArtifactEntry): Json {
  return {
    id: entry.id,
    artifact_version_id: entry.versionId,
    path: entry.path,
    kind: entry.kind,
    size_bytes: numberOrNull(entry.sizeBytes),
    sha256: entry.sha256 ?? null,
    mime_type: entry.mimeType,
    reference_uri: entry.referenceUri ?? null,
    storage_backend: entry.storageBackend,
    downloadable: entry.downloadable,
    created_at: entry.createdAt,
  };
}

/** Returns the schema of an answer with a page of rows under a name. */
export function pageSchema(name: string, row: Schema): Schema {
  return objectSchema({
    [name]: listSchema(row),
    limit: countSchema,
    offset: countSchema,
    total: countSchema,
    has_more: booleanSchema,
  });
}

/** Returns the members of such an answer. `page` is what the service made of the request. */
export function pageJson(
  name: string,
  rows: readonly Json[],
  { page, total }: { readonly page?: ListPage | undefined; readonly total: bigint },
): Record<string, Json> {
  const offsetRows = Number(page?.offset ?? 0n);
  return {
    [name]: rows,
    limit: page?.limit ?? rows.length,
    offset: offsetRows,
    total: Number(total),
    has_more: offsetRows + rows.length < Number(total),
  };
}

function numberOrNull(value: bigint | undefined): number | null {
  return value === undefined ? null : Number(value);
}
