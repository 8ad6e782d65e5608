import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ArtifactSchema } from "@tidemark/proto/artifacts/v1/artifacts";
import type { ArtifactRow } from "./artifacts.sql.ts";

const utf8 = new TextEncoder();

/** Encodes an artifact. */
export function encodeArtifact(row: ArtifactRow): MessageInitShape<typeof ArtifactSchema> {
  return {
    id: row.id,
    orgId: row.orgId,
    runId: row.runId,
    type: row.type,
    name: row.name,
    uri: row.uri,
    step: row.step ?? undefined,
    sizeBytes: row.sizeBytes === null ? undefined : BigInt(row.sizeBytes),
    sha256: row.sha256 ?? undefined,
    mimeType: row.mimeType,
    storageBackend: row.storageBackend,
    metadataJson: utf8.encode(row.metadata),
    createdAt: row.createdAt,
  };
}
