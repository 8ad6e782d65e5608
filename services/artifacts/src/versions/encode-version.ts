import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ArtifactVersionSchema } from "@tidemark/proto/artifacts/v1/versions";
import type { VersionRow } from "./versions.sql.ts";

const NO_METADATA = new TextEncoder().encode("{}");

/** Encodes a version. It has no metadata of its own: what clients send belongs to the collection. */
export function encodeVersion(row: VersionRow): MessageInitShape<typeof ArtifactVersionSchema> {
  return {
    id: row.id,
    orgId: row.orgId,
    projectId: row.projectId,
    collectionId: row.collectionId,
    name: row.name,
    type: row.type,
    versionIndex: row.versionIndex,
    aliases: [...row.aliases, ...(row.latest ? ["latest"] : [])].toSorted(),
    digest: `sha256:${row.digest}`,
    sourceRunId: row.sourceRunId,
    sourceStep: row.sourceStep ?? undefined,
    fileCount: row.fileCount,
    sizeBytes: BigInt(row.sizeBytes),
    state: row.state,
    metadataJson: NO_METADATA,
    ttlDays: row.ttlDays ?? undefined,
    retentionMode: row.retentionMode,
    expiresAt: row.expiresAt ?? undefined,
    deleteRequestedAt: row.deleteRequestedAt ?? undefined,
    deletedAt: row.deletedAt ?? undefined,
    auditReason: row.auditReason ?? undefined,
    createdAt: row.createdAt,
  };
}
