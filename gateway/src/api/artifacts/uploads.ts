import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import { COLLECTION_TYPES, PARTS_PER_ANSWER_MAX, TTL_DAYS } from "@tidemark/limits";
import type {
  AbortUploadRequestSchema,
  AbortUploadResponse,
  BeginUploadRequestSchema,
  BeginUploadResponse,
  RenewPartsRequestSchema,
  RenewPartsResponse,
  UploadFile,
  UploadPart,
  UploadSession,
} from "@tidemark/proto/artifacts/v1/uploads";
import { readIdempotencyKey } from "../../http/headers.ts";
import type { Json } from "../../http/json.ts";
import type { RouteInput, RouteReply, Schema } from "../../route.ts";
import { freeObject } from "../fields/document.ts";
import { described, object, optional, required, withDefault, withFault, type Field } from "../fields/field.ts";
import { integer, step } from "../fields/number.ts";
import { requireText, textInputSchema, textOrAbsent, uuid, word } from "../fields/text.ts";
import {
  countSchema,
  listSchema,
  objectSchema,
  requireMessage,
  textSchema,
  timeSchema,
  uuidSchema,
} from "../replies.ts";
import { pathRunId } from "../runs/read.ts";
import { aliases, REASON_BYTES_MAX } from "./aliases.ts";
import { manifestEntries } from "./manifest.ts";
import { versionJson, versionSchema } from "./rows.ts";

const DESCRIPTION_BYTES_MAX = 16_384;
const METADATA_BYTES_MAX = 16_384;

const utf8 = new TextEncoder();

const collectionName: Field<string> = described(
  required({ ...textInputSchema(), not: { pattern: "[/:]" } }, (value, name) => {
    const found = requireText(value, name);
    if (/[/:]/.test(found)) throw badRequest(`${name} must not contain a slash or a colon`, name);
    return found;
  }),
  "Without slash and colon.",
);

const collection = object({
  name: collectionName,
  type: withDefault(word(COLLECTION_TYPES), COLLECTION_TYPES[0], { default: COLLECTION_TYPES[0] }),
  description: described(textOrAbsent({ bytesMax: DESCRIPTION_BYTES_MAX }), "Kept when the collection is new."),
  metadata: described(
    withDefault(freeObject({ unstorable: "replace", bytesMax: METADATA_BYTES_MAX }), "{}"),
    `Kept when the collection is new. At most ${METADATA_BYTES_MAX} bytes as JSON.`,
  ),
});

/** Body of POST /api/runs/{run_id}/artifact-uploads. */
export const beginUploadBody = object({
  collection,
  manifest: object({ entries: manifestEntries }),
  aliases,
  ttl_days: described(optional(integer(TTL_DAYS)), "Days after which the version is no longer available."),
  source_step: optional(step()),
  idempotency_key: described(
    optional(
      required({ type: "string", pattern: "^[\\x21-\\x7e]{0,255}$" }, (value, name) => {
        if (typeof value !== "string") throw badRequest(`${name} must be a text`, name);
        return value;
      }),
    ),
    "The same as the header, which goes before it.",
  ),
});

/** POST /api/runs/{run_id}/artifact-uploads. Faults of the body travel in the message, because a missing run takes precedence. */
export function decodeBeginUpload(input: RouteInput): MessageInitShape<typeof BeginUploadRequestSchema> {
  const base = { runId: pathRunId(input), baseUrl: input.baseUrl };
  const { value, fault } = withFault(() => {
    const fields = beginUploadBody.read(input.body);
    return { ...fields, key: input.idempotencyKey ?? readKey(fields.idempotencyKey) };
  });
  if (value === undefined) return { ...base, bodyFault: fault };
  return {
    ...base,
    collectionName: value.collection.name,
    collectionType: value.collection.type,
    description: value.collection.description,
    metadataJson: utf8.encode(value.collection.metadata),
    entries: value.manifest.entries,
    aliases: [...new Set(value.aliases)],
    ttlDays: value.ttlDays,
    sourceStep: value.sourceStep,
    idempotencyKey: value.key ?? "",
  };
}

function readKey(sent: string | undefined): string | undefined {
  try {
    return readIdempotencyKey(sent, "optional");
  } catch {
    throw badRequest("idempotency_key must be 1 to 255 visible ASCII characters", "idempotency_key");
  }
}

const partSchema = objectSchema({
  part_number: { type: "integer", minimum: 1 },
  url: { type: "string", format: "uri", description: "Where the part is sent, with PUT and without credentials." },
  expires_at: timeSchema,
  required_headers: { type: "object", additionalProperties: textSchema },
});

const fileSchema = objectSchema({
  entry_id: uuidSchema,
  path: textSchema,
  upload_kind: {
    type: "string",
    enum: ["inline", "put", "multipart"],
    description: "`inline`: the bytes are sent with `complete`; `put`: in one part; `multipart`: in parts.",
  },
  part_size_bytes: countSchema,
  part_count: countSchema,
  parts: { ...listSchema(partSchema), description: `The first ${PARTS_PER_ANSWER_MAX}; ask for others with renew.` },
});

const sessionSchema = objectSchema(
  {
    id: uuidSchema,
    artifact_version_id: { ...uuidSchema, description: "The id that the version will have." },
    expires_at: timeSchema,
    part_size_bytes: countSchema,
  },
  ["artifact_version_id", "part_size_bytes"],
);

/** Answer of POST /api/runs/{run_id}/artifact-uploads: an upload, or the version when nothing needs to be sent. */
export const beganUploadSchema: Schema = {
  oneOf: [
    objectSchema({ upload_session: sessionSchema, files: listSchema(fileSchema) }),
    objectSchema({
      artifact_version: versionSchema,
      deduplicated: { type: "boolean", description: "The version was there already." },
    }),
  ],
};

/** `{upload_session, files}`, or `{artifact_version, deduplicated}`. */
export function encodeBeginUpload(response: BeginUploadResponse): RouteReply {
  const { session, files, version, deduplicated, replayed } = response;
  if (version !== undefined) {
    return { body: { artifact_version: versionJson(version), deduplicated }, replayed };
  }
  const { id, versionId, expiresAt, partSizeBytes } = requireMessage(session);
  return {
    body: {
      upload_session: {
        id,
        artifact_version_id: versionId,
        expires_at: expiresAt,
        part_size_bytes: Number(partSizeBytes),
      },
      files: files.map(fileJson),
    },
    replayed,
  };
}

function fileJson(file: UploadFile): Json {
  return {
    entry_id: file.entryId,
    path: file.path,
    upload_kind: file.uploadKind,
    part_size_bytes: Number(file.partSizeBytes),
    part_count: file.partCount,
    parts: file.parts.map(partJson),
  };
}

function partJson({ partNumber, url, expiresAt, requiredHeaders }: UploadPart): Json {
  return { part_number: partNumber, url, expires_at: expiresAt, required_headers: requiredHeaders };
}

/** Body of POST /api/artifact-uploads/{upload_session_id}/renew. */
export const renewPartsBody = object({
  entry_id: uuid(),
  start_part_number: integer({ min: 1, max: 2 ** 31 - 1 }),
  part_count: integer({ min: 1, max: PARTS_PER_ANSWER_MAX }),
});

/** POST /api/artifact-uploads/{upload_session_id}/renew. */
export function decodeRenewParts(input: RouteInput): MessageInitShape<typeof RenewPartsRequestSchema> {
  const { value, fault } = withFault(() => renewPartsBody.read(input.body));
  return { uploadSessionId: pathSessionId(input), baseUrl: input.baseUrl, ...value, bodyFault: fault };
}

/** Answer of POST /api/artifact-uploads/{upload_session_id}/renew. */
export const renewedPartsSchema = objectSchema({
  upload_session: objectSchema({ id: uuidSchema, expires_at: timeSchema }),
  entry_id: uuidSchema,
  parts: { ...listSchema(partSchema), description: "None for an inline file." },
});

/** `{upload_session, entry_id, parts}` */
export function encodeRenewParts({ session, entryId, parts }: RenewPartsResponse): RouteReply {
  const { id, expiresAt } = requireMessage(session);
  return {
    body: { upload_session: { id, expires_at: expiresAt }, entry_id: entryId, parts: parts.map(partJson) },
  };
}

/** Body of POST /api/artifact-uploads/{upload_session_id}/abort. */
export const abortUploadBody = object({
  reason: described(textOrAbsent({ bytesMax: REASON_BYTES_MAX }), "Blank means none."),
});

/** POST /api/artifact-uploads/{upload_session_id}/abort. */
export function decodeAbortUpload(input: RouteInput): MessageInitShape<typeof AbortUploadRequestSchema> {
  const { value, fault } = withFault(() => abortUploadBody.read(input.body));
  return { uploadSessionId: pathSessionId(input), ...value, bodyFault: fault };
}

/** Answer of POST /api/artifact-uploads/{upload_session_id}/abort. */
export const abortedUploadSchema = objectSchema({
  upload_session: objectSchema({ id: uuidSchema, state: textSchema }),
});

/** `{"upload_session": {"id", "state"}}` */
export function encodeAbortUpload({ session }: AbortUploadResponse): RouteReply {
  const { id, state }: UploadSession = requireMessage(session);
  return { body: { upload_session: { id, state } } };
}

/** Returns the upload that the path names; the service answers 404 to an id that names none. */
export function pathSessionId({ params }: Pick<RouteInput, "params">): string {
  return params["upload_session_id"]!;
}
