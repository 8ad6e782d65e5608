import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import type {
  AppendLogLinesRequestSchema,
  AppendLogLinesResponse,
  LogLineInputSchema,
} from "@tidemark/proto/ingest/v1/ingest";
import { LOG_LINES_MAX } from "@tidemark/limits";
import type { RouteInput, RouteReply, Schema } from "../../route.ts";
import {
  indexedList,
  object,
  readField,
  required,
  withDefault,
  withFault,
  type Field,
  type Fields,
} from "../fields/field.ts";
import { instantText } from "../fields/instant.ts";
import { integer } from "../fields/number.ts";
import { word } from "../fields/text.ts";

/** The streams of a console; the first is the default. */
export const logStreams = ["stdout", "stderr"] as const;

/** Most bytes of a message in UTF-8 (API specification, Limits). */
const MESSAGE_BYTES_MAX = 16_384;

const messageSchema: Schema = {
  type: "string",
  maxLength: MESSAGE_BYTES_MAX,
  description: `At most ${MESSAGE_BYTES_MAX} bytes in UTF-8.`,
};

/** An absent message and one that is not a text get the same text. */
const message: Field<string> = {
  ...required(messageSchema, readMessage),
  absent: (name) => readMessage(undefined, name),
};

function readMessage(value: unknown, name: string): string {
  if (typeof value !== "string") throw badRequest(`${name} must be a text`);
  if (Buffer.byteLength(value) > MESSAGE_BYTES_MAX) {
    throw badRequest(`${name} must have at most ${MESSAGE_BYTES_MAX} bytes`);
  }
  // Training processes print anything; what no text column can hold is replaced, not refused.
  return value.replaceAll("\0", "\uFFFD").toWellFormed();
}

const lineNumber = integer({ min: 0 });
const timestamp = withDefault(instantText, "");
const line = object({ line_number: lineNumber, message, timestamp });

/** Reads a line field by field, because this is a hot decoder. */
function readLine(fields: Fields): MessageInitShape<typeof LogLineInputSchema> {
  return {
    lineNumber: readField(lineNumber, fields, "line_number"),
    message: readField(message, fields, "message"),
    timestamp: readField(timestamp, fields, "timestamp"),
  };
}

/** Body of POST /api/runs/{run_id}/logs: 1 to LOG_LINES_MAX lines. */
export const appendLogsBody = object({
  stream: withDefault(word(logStreams), logStreams[0], { default: logStreams[0] }),
  lines: indexedList(line.schema, { itemsMin: 1, itemsMax: LOG_LINES_MAX }, (item) => {
    if (typeof item !== "object" || item === null) throw badRequest("must be an object");
    return readLine(item as Fields);
  }),
});

/** POST /api/runs/{run_id}/logs. Faults of the body travel in the message, because a missing run takes precedence. */
export function decodeAppendLogs({
  params,
  body,
  idempotencyKey = "",
}: RouteInput): MessageInitShape<typeof AppendLogLinesRequestSchema> {
  const { value, fault } = withFault(() => appendLogsBody.read(body));
  return { runId: params["run_id"]!, idempotencyKey, ...value, bodyFault: fault };
}

/** `{"inserted": n}`, the number of lines. */
export function encodeAppendLogs(response: AppendLogLinesResponse): RouteReply {
  return { body: { inserted: response.inserted }, replayed: response.replayed };
}
