import { STOP_RUNS_MAX } from "@tidemark/limits";
import { route, type Route, type Schema } from "../../route.ts";
import { controllers, trainers } from "../callers.ts";
import { RUN_STATUSES, runControlSchema } from "../runs/rows.ts";
import { timeOrNullSchema, timeSchema, uuidSchema } from "../replies.ts";
import {
  acknowledgeStopBody,
  decodeAcknowledgeStop,
  decodeGetStopSignal,
  decodeStopRun,
  decodeStopRuns,
  encodeAcknowledgeStop,
  encodeGetStopSignal,
  encodeStopRun,
  encodeStopRuns,
  stopRunBody,
  stopRunsBody,
} from "./stop.ts";

const stopped = {
  ok: { type: "boolean" },
  run_id: uuidSchema,
  already_requested: { type: "boolean", description: "It was asked before; the first request stands." },
  already_terminal: { type: "boolean", description: "It had ended; nothing was stored." },
  run_control: runControlSchema,
} as const satisfies Record<string, Schema>;

/** Stop requests and their answers. */
export const runControlRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: "/api/runs/{run_id}/stop",
    tag: "run control",
    summary: "Ask a run to stop",
    description: "The training process polls for the request and ends by itself.",
    callers: controllers,
    rate: "general",
    monthQuota: "never_refused",
    idempotency: "optional",
    body: "optional",
    schemas: {
      body: stopRunBody.schema,
      response: { type: "object", required: Object.keys(stopped), properties: stopped },
    },
    statuses: [200, 400, 401, 403, 404],
    decode: decodeStopRun,
    rpc: (clients, request, call) => clients.control.stopRun(request, call),
    encode: encodeStopRun,
  }),
  route({
    method: "POST",
    path: "/api/runs/stop",
    tag: "run control",
    summary: "Ask several runs to stop",
    description: "All together or not at all. A run that the caller cannot see is reported in its result.",
    callers: controllers,
    rate: "general",
    monthQuota: "never_refused",
    idempotency: "optional",
    body: "required",
    schemas: {
      body: stopRunsBody.schema,
      response: {
        type: "object",
        required: ["results", "limit"],
        properties: {
          results: {
            type: "array",
            description: "In the order of the request; repeated ids once.",
            items: {
              type: "object",
              required: ["ok", "run_id"],
              properties: { ...stopped, error: { type: "string", enum: ["not_found_or_unauthorized"] } },
            },
          },
          limit: { type: "integer", const: STOP_RUNS_MAX },
        },
      },
    },
    statuses: [200, 400, 401, 403],
    decode: decodeStopRuns,
    rpc: (clients, request, call) => clients.control.stopRuns(request, call),
    encode: encodeStopRuns,
  }),
  route({
    method: "GET",
    path: "/api/runs/{run_id}/stop-signal",
    tag: "run control",
    summary: "Whether a training process should stop",
    description: "A request shows here within a second, within ten while events are out of order.",
    callers: trainers,
    rate: "control_poll",
    isHeartbeat: true,
    idempotency: "none",
    schemas: {
      response: {
        type: "object",
        required: ["run_id", "run_status", "terminal", "stop_requested", "poll_after_seconds", "stop_request"],
        properties: {
          run_id: uuidSchema,
          run_status: { type: "string", enum: RUN_STATUSES },
          terminal: { type: "boolean", description: "The run has ended." },
          stop_requested: { type: "boolean" },
          poll_after_seconds: { type: "integer", minimum: 10, maximum: 30 },
          stop_request: {
            type: ["object", "null"],
            required: ["stop_request_id", "requested_at", "acknowledged_at"],
            properties: {
              stop_request_id: uuidSchema,
              requested_at: timeSchema,
              acknowledged_at: timeOrNullSchema,
            },
          },
        },
      },
    },
    statuses: [200, 401, 403, 404],
    decode: decodeGetStopSignal,
    rpc: (clients, request, call) => clients.control.getStopSignal(request, call),
    encode: encodeGetStopSignal,
  }),
  route({
    method: "POST",
    path: "/api/runs/{run_id}/stop-ack",
    tag: "run control",
    summary: "Answer a stop request",
    description: "completed ends a running run as failed. Both answers may be repeated; first times and message stay.",
    callers: trainers,
    rate: "general",
    isHeartbeat: true,
    monthQuota: "never_refused",
    idempotency: "none",
    body: "required",
    schemas: {
      body: acknowledgeStopBody.schema,
      response: {
        type: "object",
        required: ["run_id", "run_control"],
        properties: { run_id: uuidSchema, run_control: runControlSchema },
      },
    },
    statuses: [200, 400, 401, 403, 404, 409],
    decode: decodeAcknowledgeStop,
    rpc: (clients, request, call) => clients.control.acknowledgeStop(request, call),
    encode: encodeAcknowledgeStop,
  }),
];
