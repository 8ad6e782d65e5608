import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import type {
  AppendLogLinesRequestSchema,
  AppendLogLinesResponse,
  ListLogLinesRequestSchema,
  ListLogLinesResponse,
  LogLineInputSchema,
} from "@tidemark/proto/ingest/v1/ingest";
import { LOG_LINES_MAX } from "@tidemark/limits";
import type { Query, RouteInput, RouteReply, Schema } from "../../route.ts";
import { writeListInTurns } from "../../http/json.ts";
import {
  described,
  indexedList,
  join,
  object,
  readField,
  required,
  withDefault,
  withFault,
  type Field,
  type Fields,
} from "../fields/field.ts";
import { instantText } from "../fields/instant.ts";
import { integer, limit, queryInteger } from "../fields/number.ts";
import { queryText, searchText, word } from "../fields/text.ts";

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

const selection = object({
  stream: withDefault(word(logStreams), logStreams[0], { default: logStreams[0] }),
  tail: described(
    queryInteger({ min: 1, max: 500 }),
    "The last lines of the stream instead of a page; not together with cursor or q.",
  ),
  q: described(
    withDefault(searchText(), ""),
    "Part of the message, with or without its colors; ASCII letters match in either case.",
  ),
  cursor: queryText({ description: "`next_cursor` of the page before." }),
});

const page = object({ limit: limit({ default: 250, max: 1000 }) });

/** Query of GET /api/runs/{run_id}/logs. */
export const listLogsQuery = join(selection, page);

/** GET /api/runs/{run_id}/logs. With `tail`, `limit` is ignored. Faults of the query travel in the message, because a missing run takes precedence. */
export function decodeListLogs({ params, query }: RouteInput): MessageInitShape<typeof ListLogLinesRequestSchema> {
  const { value, fault } = withFault(() => readSelection(query));
  return { runId: params["run_id"]!, ...value, queryFault: fault };
}

function readSelection(query: Query) {
  const { tail, ...rest } = selection.read(query);
  if (tail === undefined) return { ...rest, ...page.read(query) };
  if (rest.q !== "" || rest.cursor !== "") throw badRequest("tail cannot be used with q or cursor", "tail");
  return { stream: rest.stream, tail };
}

/** Returns about the bytes that a page holds in memory. */
export function heldByLines({ lines }: ListLogLinesResponse): number {
  return lines.reduce((bytes, { message }) => bytes + message.length, 0);
}

/** `{"lines": [line, …], "next_cursor", "limit", "truncated"}`. */
export async function encodeListLogs(
  response: ListLogLinesResponse,
  request: ReturnType<typeof decodeListLogs>,
): Promise<RouteReply> {
  const runId = request.runId!.toLowerCase();
  const { stream = "" } = request;
  return {
    body: {
      lines: await writeListInTurns(response.lines, (line) => ({
        run_id: runId,
        stream,
        line_number: line.lineNumber,
        message: line.message,
        timestamp: line.timestamp,
        created_at: line.createdAt,
      })),
      next_cursor: response.nextCursor || null,
      limit: request.tail ?? request.limit ?? 0,
      truncated: response.truncated,
    },
  };
}
