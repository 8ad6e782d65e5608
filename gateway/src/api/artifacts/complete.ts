import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import { MANIFEST_ENTRIES_MAX, PARTS_PER_FILE_MAX } from "@tidemark/limits";
import type {
  CompletedFileSchema,
  CompletedPartSchema,
  CompleteUploadResponse,
} from "@tidemark/proto/artifacts/v1/uploads";
import type { Call } from "@tidemark/rpc";
import type { Clients } from "../../clients.ts";
import type { Content } from "../../http/contents/store-contents.ts";
import type { RouteInput, RouteReply, Schema, HandlerContext } from "../../route.ts";
import { indexedList, isObject, object, optional, withDefault, withFault, type ObjectField } from "../fields/field.ts";
import { integer } from "../fields/number.ts";
import { text, uuid } from "../fields/text.ts";
import { booleanSchema, objectSchema, requireMessage } from "../replies.ts";
import { contentField, receiveObjects, writtenObject } from "./contents.ts";
import { versionJson, versionSchema } from "./rows.ts";
import { pathSessionId } from "./uploads.ts";

/** Most bytes of a body without its contents: 20,000 parts and 1,000 files with room to spare. */
const REST_BYTES_MAX = 4 * 1024 * 1024;

type Part = MessageInitShape<typeof CompletedPartSchema>;
type File = { entryId: string; contentBase64: Content | undefined; parts: Part[] };

const part = object({ part_number: integer({ min: 1, max: PARTS_PER_FILE_MAX }), etag: text() });

const parts = withDefault(
  indexedList(part.schema, { itemsMax: PARTS_PER_FILE_MAX }, (item) => {
    if (!isObject(item)) throw badRequest("must be an object");
    return part.read(item);
  }),
  [],
);

/** Describes the body, whose contents are these. */
function bodyWith(contents: readonly Content[]): ObjectField<{ files: File[] }> {
  const file = object({ entry_id: uuid(), content_base64: optional(contentField(contents)), parts });
  return object({
    files: indexedList(file.schema, { itemsMin: 1, itemsMax: MANIFEST_ENTRIES_MAX }, (item) => {
      if (!isObject(item)) throw badRequest("must be an object");
      return file.read(item);
    }),
  });
}

/** Body of POST /api/artifact-uploads/{upload_session_id}/complete. */
export const completeUploadBody: { readonly schema: Schema } = bodyWith([]);

/**
 * POST /api/artifact-uploads/{upload_session_id}/complete. Contents of inline files go to the store while the body arrives. Faults of fields travel in the message,
 * because a missing upload takes precedence.
 */
export async function handleCompleteUpload(
  input: RouteInput,
  clients: Clients,
  _call: Call,
  context: HandlerContext,
): Promise<RouteReply> {
  const uploadSessionId = pathSessionId(input);
  const { body, contents } = await receiveObjects(
    input,
    clients,
    context,
    { case: "uploadSessionId", value: uploadSessionId },
    { path: ["files", "*", "content_base64"], restBytesMax: REST_BYTES_MAX },
  );
  const { value, fault } = withFault(() => bodyWith(contents.all).read(body));
  if (value === undefined) {
    await contents.abandon();
    const refused = clients.artifacts.completeUpload({ uploadSessionId, bodyFault: fault }, await context.newCall());
    return encodeCompleteUpload(await refused);
  }
  await contents.finish();
  const files = value.files.map(completedFile);
  return encodeCompleteUpload(
    await clients.artifacts.completeUpload({ uploadSessionId, files }, await context.newCall()),
  );
}

function completedFile({ entryId, contentBase64, parts: sent }: File): MessageInitShape<typeof CompletedFileSchema> {
  return { entryId, parts: sent, ...(contentBase64 === undefined ? {} : { inline: writtenObject(contentBase64) }) };
}

/** Answer of POST /api/artifact-uploads/{upload_session_id}/complete. */
export const completedUploadSchema: Schema = objectSchema(
  { artifact_version: versionSchema, deduplicated: booleanSchema },
  ["deduplicated"],
);

/** `{artifact_version}`, with `"deduplicated": true` when the collection already had the version. */
function encodeCompleteUpload({ version, deduplicated }: CompleteUploadResponse): RouteReply {
  const row = versionJson(requireMessage(version));
  return { body: { artifact_version: row, ...(deduplicated ? { deduplicated } : {}) } };
}
