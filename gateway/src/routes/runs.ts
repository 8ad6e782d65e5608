import { decodeCreateRun } from "../codecs/runs-create-request.ts";
import { decodeGetRun } from "../codecs/runs-get-request.ts";
import { decodeListRuns, decodeOverview, decodeSummarizeRuns } from "../codecs/runs-list-request.ts";
import {
  encodeCreateRun,
  encodeGetRun,
  encodeListRuns,
  encodeOverview,
  encodeSummarizeRuns,
  encodeUpdateRun,
} from "../codecs/runs-reply.ts";
import {
  createRunSchema,
  getRunQuery,
  listRunsQuery,
  overviewQuery,
  overviewSchema,
  runDetailSchema,
  runSchema,
  runSummarySchema,
  summarizeRunsQuery,
  summarizeRunsSchema,
  updateRunSchema,
} from "../codecs/runs-schemas.ts";
import { decodeUpdateRun } from "../codecs/runs-update-request.ts";
import { ingestCallers, readCallers, route, type Route, type Schema } from "../route.ts";
import { afterRunChange } from "./after-run-change.ts";

const withRun = (run: Schema): Schema => ({ type: "object", required: ["run"], properties: { run } });

/** Runs. */
export const runsRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: "/runs",
    tag: "runs",
    summary: "Create a run, or attach to one",
    description:
      "created is false when the run was there already. A repeated create is recognised without end by its content.",
    callers: ingestCallers,
    rate: "ingest",
    idempotency: "none",
    body: "required",
    exactNumbers: true,
    schemas: {
      body: createRunSchema,
      response: {
        type: "object",
        required: ["run", "created"],
        properties: { run: runSchema, created: { type: "boolean" } },
      },
    },
    statuses: [200, 400, 401, 402, 403, 404, 409],
    decode: decodeCreateRun,
    rpc: (clients, request, call) => {
      const creating = clients.runs.createRun(request, call);
      return request.mode === "resume" ? afterRunChange(creating, clients, call) : creating;
    },
    encode: encodeCreateRun,
  }),
  route({
    method: "GET",
    path: "/runs",
    tag: "runs",
    summary: "List runs with their summaries",
    description: "At most 250 metric keys of each run are shown. Unknown projects and states give an empty list.",
    callers: readCallers,
    rate: "general",
    idempotency: "none",
    schemas: {
      query: listRunsQuery,
      response: {
        type: "object",
        required: ["runs"],
        properties: { runs: { type: "array", items: runSummarySchema } },
      },
    },
    statuses: [200, 400, 401, 403],
    decode: decodeListRuns,
    rpc: (clients, request, call) => clients.runs.listRuns(request, call),
    encode: encodeListRuns,
  }),
  route({
    method: "GET",
    path: "/api/runs/summary",
    tag: "runs",
    summary: "List runs with their total, page by page",
    description:
      "next_cursor, passed back as cursor, gives the next page of the same query; runs that are added meanwhile shift nothing. The total is exact.",
    callers: readCallers,
    rate: "general",
    idempotency: "none",
    schemas: { query: summarizeRunsQuery, response: summarizeRunsSchema },
    statuses: [200, 400, 401, 403],
    decode: decodeSummarizeRuns,
    rpc: (clients, request, call) => clients.runs.summarizeRuns(request, call),
    encode: encodeSummarizeRuns,
  }),
  route({
    method: "GET",
    path: "/api/overview",
    tag: "runs",
    summary: "Figures over the runs of a filter",
    callers: readCallers,
    rate: "general",
    idempotency: "none",
    schemas: { query: overviewQuery, response: overviewSchema },
    statuses: [200, 400, 401, 403],
    decode: decodeOverview,
    rpc: (clients, request, call) => clients.runs.getOverview(request, call),
    encode: encodeOverview,
  }),
  route({
    method: "GET",
    path: "/runs/{run_id}",
    tag: "runs",
    summary: "Read a run with its summary",
    callers: readCallers,
    rate: "general",
    idempotency: "none",
    schemas: { query: getRunQuery, response: withRun(runDetailSchema) },
    statuses: [200, 400, 401, 403, 404],
    decode: decodeGetRun,
    rpc: (clients, request, call) => clients.runs.getRun(request, call),
    encode: encodeGetRun,
  }),
  route({
    method: "PATCH",
    path: "/runs/{run_id}",
    tag: "runs",
    summary: "Change status, tags and notes of a run",
    description: "At least one of the fields is needed; all change together or not at all.",
    callers: ingestCallers,
    rate: "ingest",
    idempotency: "none",
    body: "required",
    schemas: { body: updateRunSchema, response: withRun(runSchema) },
    statuses: [200, 400, 401, 403, 404],
    decode: decodeUpdateRun,
    rpc: (clients, request, call) => {
      const changing = clients.runs.updateRun(request, call);
      return request.status === undefined ? changing : afterRunChange(changing, clients, call);
    },
    encode: encodeUpdateRun,
  }),
];
