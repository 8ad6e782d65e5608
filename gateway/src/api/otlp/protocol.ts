import { badRequest } from "@tidemark/errors";
import { TRACE_LIMITS } from "@tidemark/limits";
import {
  readJsonSpans,
  readProtobufSpans,
  SpansFault,
  writeJsonAnswer,
  writeJsonStatus,
  writeProtobufAnswer,
  writeProtobufStatus,
  type ExportAnswer,
  type ResourceSpans,
} from "@tidemark/otlp";
import { parseJsonObjectInTurns } from "@tidemark/documents";
import { finishInTurns } from "@tidemark/work";
import type { Protocol, RouteReply } from "../../route.ts";

const PROTOBUF = "application/x-protobuf";
const JSON_TYPE = "application/json";

/** Most objects and lists of a body in JSON: two for each attribute of the largest one that exporters send. */
const CONTAINERS_MAX = 250_000;

/** Codes of gRPC by the statuses that the route answers with; anything else is `INTERNAL`. */
const grpcCodes: Readonly<Record<number, number>> = {
  400: 3,
  401: 16,
  402: 9,
  403: 7,
  404: 5,
  413: 11,
  429: 8,
  503: 14,
};
const INTERNAL = 13;

/** OTLP over HTTP (OpenTelemetry Protocol Specification 1.x, "OTLP/HTTP"): protobuf or JSON, and errors as `google.rpc.Status` in the same encoding. */
export const otlpProtocol: Protocol = {
  mediaTypes: [PROTOBUF, JSON_TYPE],
  parse: async (bytes, mediaType) => {
    try {
      const spans =
        mediaType === PROTOBUF
          ? readProtobufSpans(bytes, TRACE_LIMITS.exportedSpansMax)
          : readJsonSpans(
              await parseJsonObjectInTurns(bytes, true, { containersMax: CONTAINERS_MAX }),
              TRACE_LIMITS.exportedSpansMax,
            );
      return { resources: await finishInTurns(spans), mediaType };
    } catch (error) {
      throw error instanceof SpansFault ? badRequest(error.message) : error;
    }
  },
  writeError: ({ status, body }, mediaType) => {
    const code = grpcCodes[status] ?? INTERNAL;
    return mediaType === PROTOBUF
      ? { mediaType, body: writeProtobufStatus(code, body.error) }
      : { mediaType: JSON_TYPE, body: writeJsonStatus(code, body.error) };
  },
  errorSchema: {
    type: "object",
    required: ["code", "message"],
    properties: {
      code: { type: "integer", description: "A code of gRPC." },
      message: { type: "string", description: "What is wrong, for people." },
    },
  },
};

/** A body as the protocol parses it. */
export type OtlpBody = { readonly resources: readonly ResourceSpans[]; readonly mediaType: string };

/** Returns the answer in the encoding of the request. */
export function encodeAnswer(answer: ExportAnswer, { mediaType }: Pick<OtlpBody, "mediaType">): RouteReply {
  const bytes = mediaType === PROTOBUF ? writeProtobufAnswer(answer) : Buffer.from(writeJsonAnswer(answer));
  return { body: null, bytes, headers: { "content-type": mediaType } };
}
