import { route, type Route } from "../../route.ts";
import { ingestCallers, readCallers } from "../callers.ts";
import { countSchema, listSchema, objectSchema, timeSchema } from "../replies.ts";
import { appendRowsBody, decodeAppendRows, encodeAppendRows } from "./append-rows.ts";
import { createObjectSchema, decodeCreateObject, encodeCreateObject } from "./create.ts";
import { decodeExploreObjects, encodeExploreObjects, exploreObjectsQuery, exploreObjectsSchema } from "./explore.ts";
import {
  decodeListObjects,
  decodeListTableRows,
  encodeListObjects,
  encodeListTableRows,
  heldByObjects,
  listObjectsQuery,
  listTableRowsQuery,
  richObjectSchema,
} from "./objects.ts";
import {
  decodeObjectKeys,
  decodeObjectsAtStep,
  encodeObjectKeys,
  encodeObjectsAtStep,
  objectKeysQuery,
  objectKeysSchema,
  objectsAtStepBody,
  objectsAtStepSchema,
} from "./side-by-side.ts";

const order = "The last step first, those without one at the end, then the newest.";

/** Rich objects: tables, media, histograms, evaluations. */
export const objectsRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: "/api/runs/{run_id}/objects",
    tag: "objects",
    summary: "Log an object",
    description:
      "A table with its rows, an image, a video or a sound that was uploaded as an artifact of the run, a histogram, or an evaluation.",
    callers: ingestCallers,
    rate: "ingest",
    isHeartbeat: true,
    idempotency: "optional",
    body: "required",
    bodyBytesMax: 4 * 1024 * 1024,
    exactNumbers: true,
    bareTokens: true,
    schemas: { body: createObjectSchema, response: objectSchema({ object: richObjectSchema }) },
    statuses: [200, 400, 401, 402, 403, 404, 409],
    decode: decodeCreateObject,
    rpc: (clients, request, call) => clients.ingest.createObject(request, call),
    encode: encodeCreateObject,
  }),
  route({
    method: "GET",
    path: "/api/runs/{run_id}/objects",
    tag: "objects",
    summary: "Objects of a run",
    description: `${order} Histograms that were logged as attributes are among them. A page of more than 16 MiB is refused; the error says how many objects fit.`,
    callers: readCallers,
    rate: "general",
    idempotency: "none",
    schemas: {
      query: listObjectsQuery.schema,
      response: objectSchema({ objects: listSchema(richObjectSchema), limit: countSchema, offset: countSchema }),
    },
    statuses: [200, 400, 401, 403, 404],
    decode: decodeListObjects,
    rpc: (clients, request, call) => clients.ingestRead.listObjects(request, call),
    encode: encodeListObjects,
    heldBytes: heldByObjects,
  }),
  route({
    method: "GET",
    path: "/api/objects/explorer",
    tag: "objects",
    summary: "Objects of many runs",
    description: `${order} A page looks at a bounded number of objects, so with \`key\` it can be short, even empty, before the end; only a null \`next_cursor\` marks the end.`,
    callers: readCallers,
    rate: "general",
    idempotency: "none",
    schemas: { query: exploreObjectsQuery.schema, response: exploreObjectsSchema },
    statuses: [200, 400, 401, 403, 404],
    decode: decodeExploreObjects,
    rpc: (clients, request, call) => clients.ingestRead.exploreObjects(request, call),
    encode: encodeExploreObjects,
  }),
  route({
    method: "GET",
    path: "/api/objects/keys",
    tag: "objects",
    summary: "Keys of the objects of runs",
    description:
      "The keys under which runs logged objects, with all their steps where these are not too many: what a page needs to show runs side by side.",
    callers: readCallers,
    rate: "general",
    idempotency: "none",
    schemas: { query: objectKeysQuery, response: objectKeysSchema },
    statuses: [200, 400, 401, 403, 404],
    decode: decodeObjectKeys,
    rpc: (clients, request, call) => clients.ingestRead.listObjectKeys(request, call),
    encode: encodeObjectKeys,
  }),
  route({
    method: "POST",
    path: "/api/objects/at-step",
    tag: "objects",
    summary: "Objects of runs side by side",
    description:
      "Of each run and key the last object at or before a step; one that was logged without a step where there is none. " +
      "This is a read, in the form of POST because of its many run ids.",
    callers: readCallers,
    rate: "general",
    idempotency: "none",
    body: "required",
    schemas: { body: objectsAtStepBody.schema, response: objectsAtStepSchema },
    statuses: [200, 400, 401, 403, 404],
    decode: decodeObjectsAtStep,
    rpc: (clients, request, call) => clients.ingestRead.listObjectsAtStep(request, call),
    encode: encodeObjectsAtStep,
    heldBytes: heldByObjects,
  }),
  route({
    method: "GET",
    path: "/api/objects/{object_id}/rows",
    tag: "objects",
    summary: "Rows of a table",
    description:
      "In the order in which they were logged, or sorted and filtered; then `total` says how many rows are selected.",
    callers: readCallers,
    rate: "general",
    idempotency: "none",
    schemas: {
      query: listTableRowsQuery.schema,
      response: objectSchema(
        {
          object_id: { type: "integer" },
          rows: listSchema(objectSchema({ row_index: countSchema, row: { type: "object" }, created_at: timeSchema })),
          limit: countSchema,
          offset: countSchema,
          total: { ...countSchema, description: "Of a request with sort_by, filter or q: how many rows are selected." },
        },
        ["total"],
      ),
    },
    statuses: [200, 400, 401, 403, 404],
    decode: decodeListTableRows,
    rpc: (clients, request, call) => clients.ingestRead.listTableRows(request, call),
    encode: encodeListTableRows,
  }),
  route({
    method: "POST",
    path: "/api/objects/{object_id}/rows",
    tag: "objects",
    summary: "Append rows to a table",
    description:
      "Up to 1,000 rows a request and 100,000 rows a table. 409 `table_offset_mismatch` says in `position` how many rows the table has.",
    callers: ingestCallers,
    rate: "ingest",
    idempotency: "none",
    body: "required",
    bodyBytesMax: 4 * 1024 * 1024,
    exactNumbers: true,
    schemas: {
      body: appendRowsBody.schema,
      response: objectSchema({ object_id: { type: "integer" }, row_count: countSchema }),
    },
    statuses: [200, 400, 401, 402, 403, 404, 409],
    decode: decodeAppendRows,
    rpc: (clients, request, call) => clients.ingest.appendTableRows(request, call),
    encode: encodeAppendRows,
  }),
];
