import { BULK_UPDATE, LIST_METRIC_KEYS_MAX } from "@tidemark/limits";
import { route, type Route, type Schema } from "../../route.ts";
import { controllers, forkCallers, ingestCallers, readCallers } from "../callers.ts";
import { deletionQuery, dryRunSchema } from "../deletion/deletion.ts";
import { afterRunChange } from "./after-run-change.ts";
import { bulkUpdateBody, bulkUpdateSchema, decodeBulkUpdate, encodeBulkUpdate } from "./bulk-update.ts";
import { compareRunsQuery, comparisonSchema, decodeCompareRuns, encodeCompareRuns } from "./compare.ts";
import { createRunBody, decodeCreateRun, encodeCreateRun } from "./create.ts";
import {
  decodeListRuns,
  decodeOverview,
  decodeSummarizeRuns,
  encodeListRuns,
  encodeOverview,
  encodeSummarizeRuns,
  listRunsQuery,
  overviewQuery,
  overviewSchema,
  summarizeRunsQuery,
  summarizeRunsSchema,
} from "./list.ts";
import {
  decodeDeleteRun,
  decodeRestoreRun,
  deletableRunSchema,
  deleteRun,
  encodeDeleteRun,
  encodeRestoreRun,
} from "./delete.ts";
import { decodeGetRun, encodeGetRun, getRunQuery } from "./read.ts";
import { decodeGetReadme, decodePutReadme, encodeReadme, readmeBody, readmeSchema } from "./readme.ts";
import {
  decodeForkRun,
  decodeGetLineage,
  encodeForkRun,
  encodeGetLineage,
  forkRunBody,
  forkedRunSchema,
  lineageSchema,
} from "./relations.ts";
import { runDetailSchema, runSchema, runSummarySchema } from "./rows.ts";
import { decodeUpdateRun, encodeUpdateRun, updateRunBody } from "./update.ts";

const withRun = (run: Schema): Schema => ({ type: "object", required: ["run"], properties: { run } });

/** Runs. */
export const runsRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: "/runs",
    tag: "runs",
    summary: "Create a run, or attach to one",
    description:
      "created is false when the run was there already. A repeated create is recognized by its content, however late.",
    callers: ingestCallers,
    rate: "ingest",
    idempotency: "none",
    body: "required",
    exactNumbers: true,
    schemas: {
      body: createRunBody.schema,
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
    description: `At most ${LIST_METRIC_KEYS_MAX} metric keys of each run are shown. Unknown projects and states give an empty list.`,
    callers: readCallers,
    rate: "general",
    idempotency: "none",
    schemas: {
      query: listRunsQuery.schema,
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
    schemas: { query: summarizeRunsQuery.schema, response: summarizeRunsSchema },
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
    schemas: { query: overviewQuery.schema, response: overviewSchema },
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
    schemas: { query: getRunQuery.schema, response: withRun(runDetailSchema) },
    statuses: [200, 400, 401, 403, 404],
    decode: decodeGetRun,
    rpc: (clients, request, call) => clients.runs.getRun(request, call),
    encode: encodeGetRun,
  }),
  route({
    method: "PATCH",
    path: "/runs/{run_id}",
    tag: "runs",
    summary: "Change name, status, tags and notes of a run",
    description: "At least one of the fields is needed; all change together or not at all.",
    callers: ingestCallers,
    rate: "ingest",
    signOfLife: true,
    idempotency: "none",
    body: "required",
    schemas: { body: updateRunBody.schema, response: withRun(runSchema) },
    statuses: [200, 400, 401, 402, 403, 404],
    decode: decodeUpdateRun,
    rpc: (clients, request, call) => {
      const changing = clients.runs.updateRun(request, call);
      return request.status === undefined ? changing : afterRunChange(changing, clients, call);
    },
    encode: encodeUpdateRun,
  }),
  route({
    method: "POST",
    path: "/api/runs/bulk-update",
    tag: "runs",
    summary: "Change status, tags and notes of many runs",
    description: `Up to ${BULK_UPDATE.runsMax} runs that are named or that a filter finds, ${BULK_UPDATE.together} together or not at all.`,
    callers: ingestCallers,
    rate: "ingest",
    idempotency: "optional",
    body: "required",
    schemas: { body: bulkUpdateBody.schema, response: bulkUpdateSchema },
    statuses: [200, 400, 401, 402, 403, 409],
    decode: decodeBulkUpdate,
    rpc: (clients, request, call) => {
      const changing = clients.runs.bulkUpdateRuns(request, call);
      const isMoved = request.status !== undefined && request.dryRun !== true;
      return isMoved ? afterRunChange(changing, clients, call) : changing;
    },
    encode: encodeBulkUpdate,
  }),
  route({
    method: "GET",
    path: "/api/runs/{run_id}/readme",
    tag: "runs",
    summary: "Read the readme of a run",
    description: "A text in Markdown, which no list has and no search looks into.",
    callers: readCallers,
    rate: "general",
    idempotency: "none",
    schemas: { response: readmeSchema },
    statuses: [200, 401, 403, 404],
    decode: decodeGetReadme,
    rpc: (clients, request, call) => clients.runs.getReadme(request, call),
    encode: encodeReadme,
  }),
  route({
    method: "PUT",
    path: "/api/runs/{run_id}/readme",
    tag: "runs",
    summary: "Write the readme of a run",
    callers: ingestCallers,
    rate: "ingest",
    signOfLife: true,
    idempotency: "none",
    body: "required",
    schemas: { body: readmeBody.schema, response: readmeSchema },
    statuses: [200, 400, 401, 402, 403, 404],
    decode: decodePutReadme,
    rpc: (clients, request, call) => clients.runs.putReadme(request, call),
    encode: encodeReadme,
  }),
  route({
    method: "DELETE",
    path: "/runs/{run_id}",
    tag: "runs",
    summary: "Delete a run",
    description:
      "The run is gone everywhere at once, can be restored until purge_after, and is removed then with its data; artifact versions that it made stay. A repeated call answers the same. dry_run=true answers {counts, bytes} instead.",
    callers: controllers,
    rate: "general",
    idempotency: "none",
    schemas: { query: deletionQuery.schema, response: { oneOf: [withRun(deletableRunSchema), dryRunSchema] } },
    statuses: [200, 400, 401, 403, 404],
    decode: decodeDeleteRun,
    rpc: deleteRun,
    encode: encodeDeleteRun,
  }),
  route({
    method: "POST",
    path: "/runs/{run_id}/restore",
    tag: "runs",
    summary: "Restore a deleted run",
    description:
      "As it was; a run that is not deleted is answered as it is. 409 while the project of the run is deleted.",
    callers: controllers,
    rate: "general",
    idempotency: "none",
    schemas: { response: withRun(deletableRunSchema) },
    statuses: [200, 401, 403, 404, 409],
    decode: decodeRestoreRun,
    rpc: (clients, request, call) => afterRunChange(clients.runs.undeleteRun(request, call), clients, call),
    encode: encodeRestoreRun,
  }),
  route({
    method: "POST",
    path: "/api/runs/{run_id}/forks",
    tag: "runs",
    summary: "Fork a run",
    description:
      "Creates a running child in the same project, linked to its parent. Does not start a training, and copies no metrics and no artifacts.",
    callers: forkCallers,
    rate: "ingest",
    idempotency: "optional",
    body: "optional",
    exactNumbers: true,
    schemas: { body: forkRunBody.schema, response: forkedRunSchema },
    statuses: [200, 400, 401, 402, 403, 404, 409],
    decode: decodeForkRun,
    rpc: (clients, request, call) => clients.runs.forkRun(request, call),
    encode: encodeForkRun,
  }),
  route({
    method: "GET",
    path: "/api/runs/{run_id}/lineage",
    tag: "runs",
    summary: "Parent and children of a run",
    description: `At most ${LIST_METRIC_KEYS_MAX} metric keys of each run are shown. Relatives that the caller may not see are left out.`,
    callers: readCallers,
    rate: "general",
    idempotency: "none",
    schemas: { response: lineageSchema },
    statuses: [200, 401, 403, 404],
    decode: decodeGetLineage,
    rpc: (clients, request, call) => clients.runs.getLineage(request, call),
    encode: encodeGetLineage,
  }),
  route({
    method: "GET",
    path: "/api/runs/side-by-side",
    tag: "runs",
    summary: "Compare runs",
    description:
      "A row for each config and metadata key, tag, metric aggregate and attribute that some of the runs have. Values differ when their JSON does, whatever the order of keys and the notation of numbers.",
    callers: readCallers,
    rate: "general",
    idempotency: "none",
    schemas: { query: compareRunsQuery, response: comparisonSchema },
    statuses: [200, 400, 401, 403, 404],
    decode: decodeCompareRuns,
    rpc: (clients, request, call) => clients.runs.compareRuns(request, call),
    encode: encodeCompareRuns,
  }),
];
