import type { MessageInitShape } from "@bufbuild/protobuf";
import type { RichObjectSchema } from "@tidemark/proto/ingest/v1/objects";
import type { ObjectRow } from "./objects.sql.ts";

const utf8 = new TextEncoder();

/** Encodes an object with the artifact that it links to. */
export function encodeObject(orgId: string, row: ObjectRow): MessageInitShape<typeof RichObjectSchema> {
  return { ...encodeStoredObject(orgId, row), artifact: linkOf(row) };
}

/** Encodes a stored object, with only the id of its artifact. */
export function encodeStoredObject(
  orgId: string,
  row: Pick<
    ObjectRow,
    "id" | "runId" | "key" | "kind" | "step" | "valueJson" | "metadataJson" | "summaryJson" | "artifactId" | "createdAt"
  >,
) {
  return {
    id: row.id,
    orgId,
    runId: row.runId,
    key: row.key,
    kind: row.kind,
    step: row.step ?? undefined,
    valueJson: utf8.encode(row.valueJson ?? ""),
    metadataJson: utf8.encode(row.metadataJson),
    summaryJson: utf8.encode(row.summaryJson),
    artifactId: row.artifactId ?? "",
    createdAt: row.createdAt,
  };
}

function linkOf(row: ObjectRow): MessageInitShape<typeof RichObjectSchema>["artifact"] {
  if (row.artifactId === null || row.artifactName === null) return undefined;
  return {
    id: row.artifactId,
    name: row.artifactName,
    uri: row.artifactUri,
    mimeType: row.mimeType,
    sizeBytes: row.sizeBytes ?? undefined,
    storageBackend: row.storageBackend,
  };
}
