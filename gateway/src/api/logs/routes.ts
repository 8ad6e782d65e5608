import { route, type Route, type Schema } from "../../route.ts";
import { ingestCallers, readCallers } from "../callers.ts";
import {
  appendLogsBody,
  decodeAppendLogs,
  decodeListLogs,
  encodeAppendLogs,
  encodeListLogs,
  heldByLines,
  listLogsQuery,
  logStreams,
} from "./logs.ts";

const stream: Schema = { type: "string", enum: logStreams };
const lineNumber: Schema = { type: "integer", minimum: 0 };

/** Console logs. */
export const logsRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: "/api/runs/{run_id}/logs",
    tag: "logs",
    summary: "Log console lines",
    callers: ingestCallers,
    rate: "ingest",
    isHeartbeat: true,
    idempotency: "optional",
    body: "required",
    bodyBytesMax: 4 * 1024 * 1024,
    schemas: {
      body: appendLogsBody.schema,
      response: {
        type: "object",
        required: ["inserted"],
        properties: { inserted: { type: "integer", description: "Lines that were stored." } },
      },
    },
    statuses: [200, 400, 401, 402, 403, 404],
    decode: decodeAppendLogs,
    rpc: (clients, request, call) => clients.ingest.appendLogLines(request, call),
    encode: encodeAppendLogs,
  }),
  route({
    method: "GET",
    path: "/api/runs/{run_id}/logs",
    tag: "logs",
    summary: "Console lines of one stream",
    description:
      "By line number, then by arrival, with the lines that the SDK captured and sent as attributes. A search looks at a bounded number of lines per request: an empty page with a cursor says that there is more to look at.",
    callers: readCallers,
    rate: "general",
    idempotency: "none",
    schemas: {
      query: listLogsQuery.schema,
      response: {
        type: "object",
        required: ["lines", "next_cursor", "limit", "truncated"],
        properties: {
          lines: {
            type: "array",
            items: {
              type: "object",
              required: ["run_id", "stream", "line_number", "message", "timestamp", "created_at"],
              properties: {
                run_id: { type: "string", format: "uuid" },
                stream,
                line_number: lineNumber,
                message: { type: "string" },
                timestamp: { type: "string", format: "date-time" },
                created_at: { type: "string", format: "date-time" },
              },
            },
          },
          next_cursor: { type: ["string", "null"] },
          limit: { type: "integer" },
          truncated: { type: "boolean", description: "A search stopped before the end of the stream." },
        },
      },
    },
    statuses: [200, 400, 401, 403, 404],
    decode: decodeListLogs,
    rpc: (clients, request, call) => clients.ingestRead.listLogLines(request, call),
    encode: encodeListLogs,
    heldBytes: heldByLines,
  }),
];
