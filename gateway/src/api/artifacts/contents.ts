import type { IncomingHttpHeaders } from "node:http";
import { badRequest } from "@tidemark/errors";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ReserveObjectsRequestSchema } from "@tidemark/proto/artifacts/v1/artifacts";
import type { WrittenObjectSchema } from "@tidemark/proto/artifacts/v1/uploads";
import { BASE64_PATTERN } from "../../http/contents/base64.ts";
import { receiveContents, type ContentsRule, type ReceivedContents } from "../../http/contents/receive-contents.ts";
import type { Content } from "../../http/contents/store-contents.ts";
import { encodingOf } from "../../gate/read-body.ts";
import type { Clients } from "../../clients.ts";
import type { RouteInput, Schema, HandlerContext } from "../../route.ts";
import { required, type Field } from "../fields/field.ts";

/** Most bytes of the decoded bodies that carry files in base64 (API specification, Limits). */
export const CONTENTS_BYTES_MAX = 67_108_864;

const contentSchema: Schema = {
  type: "string",
  contentEncoding: "base64",
  pattern: BASE64_PATTERN,
  description: "The bytes in standard base64 with padding; may be empty.",
};

/** Describes a content: in a received body, its index takes its place. */
export function contentField(contents: readonly Content[]): Field<Content> {
  return required(contentSchema, (value, name) => {
    const content = typeof value === "string" ? contents[Number(value)] : undefined;
    if (content === undefined) throw badRequest(`${name} must be a text`, name);
    if (!content.right) throw badRequest(`${name} must be standard base64 with padding`, name);
    return content;
  });
}

/** Receives a body with contents, which become objects of the owner. @throws see `receiveContents` */
export function receiveObjects(
  input: RouteInput,
  clients: Clients,
  context: HandlerContext,
  owner: NonNullable<MessageInitShape<typeof ReserveObjectsRequestSchema>["owner"]>,
  rule: Pick<ContentsRule, "path" | "restBytesMax">,
): Promise<ReceivedContents> {
  const orgId = input.identity!.orgId;
  return receiveContents(
    context.request,
    { ...rule, bytesMax: CONTENTS_BYTES_MAX },
    {
      reserve: async (count, held) => {
        const bytes = BigInt(Math.max(held, declaredBytes(context.request.headers, rule.restBytesMax)));
        const asked = { owner, count, bytes, writerKey: input.idempotencyKey ?? "" };
        return (await clients.artifacts.reserveObjects(asked, await context.newCall())).objectIds;
      },
      put: (objectId, bytes) => context.objects.put(context.objects.keyOf(orgId, objectId), bytes),
      hold: context.reserveMemory,
    },
  );
}

/** Returns at least how many bytes a body carries, judging by its headers: base64 without escapes, and the largest possible rest. */
function declaredBytes(headers: IncomingHttpHeaders, restBytesMax: number): number {
  if (encodingOf(headers) === "gzip") return 0;
  return Math.max(0, Math.floor(((Number(headers["content-length"] ?? 0) - restBytesMax) / 4) * 3));
}

/** Returns an object as it is reported to the service; all contents must have been stored. */
export function writtenObject({ stored }: Content): MessageInitShape<typeof WrittenObjectSchema> {
  if (stored === undefined) throw new Error("a content was not stored");
  const { objectId, sizeBytes, sha256 } = stored;
  return { objectId, sizeBytes: BigInt(sizeBytes), sha256: Buffer.from(sha256, "hex") };
}
