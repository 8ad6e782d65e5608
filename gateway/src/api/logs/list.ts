import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import type { ListLogLinesRequestSchema, ListLogLinesResponse } from "@tidemark/proto/ingest/v1/ingest";
import { writeListInTurns } from "../../http/json.ts";
import type { Query, RouteInput, RouteReply } from "../../route.ts";
import { described, join, object, withDefault, withFault } from "../fields/field.ts";
import { limit, queryInteger } from "../fields/number.ts";
import { queryText, searchText, word } from "../fields/text.ts";
import { logStreams } from "./append.ts";

const selection = object({
  stream: withDefault(word(logStreams), logStreams[0], { default: logStreams[0] }),
  tail: described(
    queryInteger({ min: 1, max: 500 }),
    "The last lines of the stream instead of a page; not together with cursor or q.",
  ),
  q: described(withDefault(searchText(), ""), "Part of the message; ASCII letters match in either case."),
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
