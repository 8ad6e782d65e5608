import type { MessageInitShape } from "@bufbuild/protobuf";
import { notFound } from "@tidemark/errors";
import type { Db, Tx } from "@tidemark/pg";
import type {
  ExportedCollectionSchema,
  ExportedVersionSchema,
  ExportVersionsRequestSchema,
  ExportVersionsResponseSchema,
} from "@tidemark/proto/artifacts/v1/archive";
import { callerOf, canSee, isUuid, requireExportedIds, type RunDirectory } from "@tidemark/requests";
import type { StreamHandler } from "@tidemark/rpc";
import type { ArtifactsDeps } from "../deps.ts";
import { encodeEntry } from "./get-version.ts";
import { listEntryRows } from "./versions.sql.ts";
import {
  readCollections,
  readEdges,
  readVersionsOf,
  type StoredCollection,
  type StoredVersion,
  type VersionsOf,
} from "./exported-versions.sql.ts";

/** The most entries of a version. */
const ENTRIES_MAX = 1000;

type Answer = MessageInitShape<typeof ExportVersionsResponseSchema>;

const utf8 = new TextEncoder();

/** ArtifactsArchiveService.ExportVersions. For runs, exports the versions that they made or used. @throws bad_request, not_found */
export function exportVersionsHandler(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
  readonly storageBackend: ArtifactsDeps["storageBackend"];
}): StreamHandler<typeof ExportVersionsRequestSchema, typeof ExportVersionsResponseSchema> {
  return async function* ({ projectId, runIds }, call) {
    const caller = callerOf(call);
    const { orgId } = caller;
    requireExportedIds(runIds);
    if (projectId !== "" && (!isUuid(projectId) || !canSee(caller, { orgId, projectId }))) throw notFound("project");
    await deps.runs.require(caller, runIds);
    const of: VersionsOf = projectId === "" ? { runIds, onlyProject: caller.projectId } : { projectId };
    yield* deps.db.streamTenant(orgId, (tx) => versionsOf(tx, orgId, of, deps.storageBackend), { plans: "walks" });
  };
}

async function* versionsOf(
  tx: Tx,
  orgId: string,
  of: VersionsOf,
  kept: ArtifactsDeps["storageBackend"],
): AsyncGenerator<Answer, void, undefined> {
  for await (const collection of readCollections(tx, orgId, of)) {
    yield { rows: { case: "collection", value: encodeCollection(collection) } };
    for await (const version of readVersionsOf(tx, orgId, collection.id, of)) {
      yield { rows: { case: "version", value: encodeVersion(version) } };
      const entries = await listEntryRows(tx, orgId, version.id, { prefix: "", limit: ENTRIES_MAX, offset: 0 });
      const encoded = entries.map((entry) => encodeEntry(entry, version.createdAt, kept));
      if (encoded.length > 0) yield { rows: { case: "entries", value: { entries: encoded } } };
      for await (const edges of readEdges(tx, orgId, version.id, of))
        yield { rows: { case: "edges", value: { edges } } };
    }
  }
}

function encodeCollection({
  description,
  metadata,
  ...same
}: StoredCollection): MessageInitShape<typeof ExportedCollectionSchema> {
  return { ...same, description: description ?? undefined, metadataJson: utf8.encode(metadata) };
}

function encodeVersion(row: StoredVersion): MessageInitShape<typeof ExportedVersionSchema> {
  return {
    id: row.id,
    collectionId: row.collectionId,
    versionIndex: row.versionIndex,
    digest: row.digest,
    sourceRunId: row.sourceRunId,
    sourceStep: row.sourceStep ?? undefined,
    fileCount: row.fileCount,
    sizeBytes: BigInt(row.sizeBytes),
    state: row.state,
    aliases: [...row.aliases],
    ttlDays: row.ttlDays ?? undefined,
    retentionMode: row.retentionMode,
    expiresAt: row.expiresAt ?? undefined,
    deleteRequestedAt: row.deleteRequestedAt ?? undefined,
    deletedAt: row.deletedAt ?? undefined,
    purgeAfter: row.purgeAfter ?? undefined,
    purgedAt: row.purgedAt ?? undefined,
    auditReason: row.auditReason ?? undefined,
    createdAt: row.createdAt,
  };
}
