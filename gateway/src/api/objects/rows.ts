import { OBJECT_KINDS } from "@tidemark/limits";
import type { LinkedArtifact, RichObject } from "@tidemark/proto/ingest/v1/objects";
import { raw, type Json } from "../../http/json.ts";
import type { Schema } from "../../route.ts";
import { textOrNull } from "../replies.ts";
import { numberOrNullSchema, objectSchema, textSchema, timeSchema, uuidOrNullSchema, uuidSchema } from "../schemas.ts";

const utf8 = new TextDecoder();

/** Returns a document as it was sent. */
export function documentJson(bytes: Uint8Array): Json {
  return raw(utf8.decode(bytes));
}

/** An artifact that an object shows, or null. */
export const linkSchema: Schema = {
  anyOf: [
    objectSchema({
      id: uuidSchema,
      name: textSchema,
      uri: textSchema,
      mime_type: textSchema,
      size_bytes: { type: ["integer", "null"], minimum: 0 },
      storage_backend: { type: "string", enum: ["external", "local", "r2"] },
    }),
    { type: "null" },
  ],
  description: "Null also when the artifact was deleted.",
};

/** An object without the rows of a table. */
export const richObjectSchema = objectSchema({
  id: { type: "integer" },
  org_id: uuidSchema,
  run_id: uuidSchema,
  key: textSchema,
  kind: { type: "string", enum: OBJECT_KINDS },
  step: numberOrNullSchema,
  value: {},
  metadata: { type: "object" },
  summary: { type: "object" },
  artifact_id: uuidOrNullSchema,
  artifact: linkSchema,
  created_at: timeSchema,
});

/** Writes an object; its documents have the digits that were sent. */
export function objectJson(object: RichObject): Json {
  return {
    id: object.id,
    org_id: object.orgId,
    run_id: object.runId,
    key: object.key,
    kind: object.kind,
    step: object.step ?? null,
    value: documentJson(object.valueJson),
    metadata: documentJson(object.metadataJson),
    summary: documentJson(object.summaryJson),
    artifact_id: textOrNull(object.artifactId),
    artifact: linkJson(object.artifact),
    created_at: object.createdAt,
  };
}

/** Writes the artifact of an object. */
export function linkJson(link: LinkedArtifact | undefined): Json {
  if (link === undefined) return null;
  return {
    id: link.id,
    name: link.name,
    uri: link.uri,
    mime_type: link.mimeType,
    size_bytes: link.sizeBytes ?? null,
    storage_backend: link.storageBackend,
  };
}
