import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import type { ListLogLinesRequestSchema, ListLogLinesResponse } from "@tidemark/proto/ingest/v1/ingest";
import type { Query, RouteInput, RouteReply } from "../../route.ts";
import { readLimit, readOptionalEnum, readOptionalText, readQueryInteger, withFault } from "../fields/index.ts";
import { logStreams } from "./append.ts";

/** Lines of a page: default and maximum (API specification, Limits). */
const limits = { default: 250, max: 1000 };
const TAIL_MAX = 500;

/**
 * GET /api/runs/{run_id}/logs as a message. `tail` leaves `limit` aside. Faults of the query travel in
 * it, because a missing run goes before them.
 */
export function decodeListLogs({ params, query }: RouteInput): MessageInitShape<typeof ListLogLinesRequestSchema> {
  const { value, fault } = withFault(() => readSelection(query));
  return { runId: params["run_id"]!, ...value, queryFault: fault };
}

function readSelection(query: Query) {
  const stream = readOptionalEnum(query, "stream", logStreams) ?? logStreams[0];
  const tail = readQueryInteger(query, "tail", { min: 1, max: TAIL_MAX });
  const q = readOptionalText(query, "q", { blank: "absent" }) ?? "";
  const cursor = query["cursor"] ?? "";
  if (tail === undefined) return { stream, q, cursor, limit: readLimit(query, limits) };
  if (q !== "" || cursor !== "") throw badRequest("tail cannot be used with q or cursor", "tail");
  return { stream, tail };
}

/** `{"lines": [line, …], "next_cursor", "limit", "truncated"}`. */
export function encodeListLogs(response: ListLogLinesResponse, input: RouteInput): RouteReply {
  const { query, params } = input;
  const runId = params["run_id"]!.toLowerCase();
  const stream = query["stream"] ?? logStreams[0];
  return {
    body: {
      lines: response.lines.map((line) => ({
        run_id: runId,
        stream,
        line_number: line.lineNumber,
        message: line.message,
        timestamp: line.timestamp,
        created_at: line.createdAt,
      })),
      next_cursor: response.nextCursor || null,
      limit: readQueryInteger(query, "tail") ?? readLimit(query, limits),
      truncated: response.truncated,
    },
  };
}
