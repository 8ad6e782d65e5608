import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest, isAppError } from "@tidemark/errors";
import type {
  AppendLogLinesRequestSchema,
  AppendLogLinesResponse,
  LogLineInputSchema,
} from "@tidemark/proto/ingest/v1/ingest";
import type { RouteInput, RouteReply } from "../../route.ts";
import {
  present,
  readInteger,
  readList,
  readOptionalEnum,
  readOptionalInstant,
  withFault,
  type Fields,
} from "../fields/index.ts";

/** Most lines of one request (API specification, Limits). */
const LINES_MAX = 50;
/** Most bytes of a message in UTF-8 (API specification, Limits). */
const MESSAGE_BYTES_MAX = 16_384;

/** The streams of a console; the first is the default. */
export const logStreams = ["stdout", "stderr"] as const;

/** POST /api/runs/{run_id}/logs as a message; faults of the body travel in it, because a missing run goes before them. */
export function decodeAppendLogs(input: RouteInput): MessageInitShape<typeof AppendLogLinesRequestSchema> {
  const { value, fault } = withFault(() => ({
    stream: readOptionalEnum(input.body, "stream", logStreams) ?? logStreams[0],
    lines: readLines(input.body),
  }));
  return {
    runId: input.params["run_id"]!,
    idempotencyKey: input.idempotencyKey ?? "",
    ...value,
    bodyFault: fault,
  };
}

/** `{"inserted": n}`, the number of lines. */
export function encodeAppendLogs(response: AppendLogLinesResponse): RouteReply {
  return { body: { inserted: response.inserted }, replayed: response.replayed };
}

type Line = MessageInitShape<typeof LogLineInputSchema>;

function readLines(body: Fields): Line[] {
  const lines = readList(body, "lines", { itemsMin: 1, itemsMax: LINES_MAX });
  if (lines === undefined) throw badRequest("lines is required", "lines");
  return lines.map((line, i) => {
    try {
      if (typeof line !== "object" || line === null) throw badRequest("must be an object");
      return readLine(line as Fields);
    } catch (error) {
      throw isAppError(error) ? badRequest(`lines[${i}]: ${error.message}`, "lines") : error;
    }
  });
}

function readLine(line: Fields): Line {
  const lineNumber = readInteger(line, "line_number", { min: 0 });
  const message = present(line, "message");
  if (typeof message !== "string") throw badRequest("message must be a text");
  if (Buffer.byteLength(message) > MESSAGE_BYTES_MAX) {
    throw badRequest(`message must have at most ${MESSAGE_BYTES_MAX} bytes`);
  }
  return {
    lineNumber,
    // Training processes print anything; what no text column can hold is replaced, not refused.
    message: message.replaceAll("\0", "\uFFFD").toWellFormed(),
    timestamp: readOptionalInstant(line, "timestamp")?.text ?? "",
  };
}
