import { route, type Route, type Schema } from "../../route.ts";
import { ingestCallers, readCallers } from "../callers.ts";
import { decodeAppendBatch, decodeAppendPoint, encodeAppendMetrics, metricBatch, metricPoint } from "./append.ts";
import { decodeQueryGroups, encodeQueryGroups, queryGroupsBody, queryGroupsSchema } from "./groups.ts";
import { decodeListPoints, encodeListPoints, listPointsQuery } from "./read.ts";
import { pointSchema } from "./points.ts";
import { querySeries, seriesBodySchema, seriesResponseSchema } from "./series.ts";

const BODY_BYTES_MAX = 4 * 1024 * 1024;

const inserted: Schema = {
  type: "object",
  required: ["inserted"],
  properties: { inserted: { type: "integer", description: "Values that were stored." } },
};

/** Scalar metrics: writing points, reading them back. */
export const metricsRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: "/runs/{run_id}/metrics",
    tag: "metrics",
    summary: "Log the metrics of one step",
    description:
      "Points are only ever added: the same key and step again is a second point. NaN and infinities are points too; aggregates are over the other values.",
    callers: ingestCallers,
    rate: "ingest",
    isHeartbeat: true,
    idempotency: "optional",
    body: "required",
    bodyBytesMax: BODY_BYTES_MAX,
    bareTokens: true,
    schemas: { body: metricPoint.schema, response: inserted },
    statuses: [200, 400, 401, 402, 403, 404, 409],
    decode: decodeAppendPoint,
    rpc: (clients, request, call) => clients.ingest.appendMetrics(request, call),
    encode: encodeAppendMetrics,
  }),
  route({
    method: "POST",
    path: "/runs/{run_id}/metrics/batch",
    tag: "metrics",
    summary: "Log the metrics of many steps, all or none",
    callers: ingestCallers,
    rate: "ingest",
    isHeartbeat: true,
    idempotency: "optional",
    body: "required",
    bodyBytesMax: BODY_BYTES_MAX,
    bareTokens: true,
    schemas: {
      body: metricBatch.schema,
      response: inserted,
    },
    statuses: [200, 400, 401, 402, 403, 404, 409],
    decode: decodeAppendBatch,
    rpc: (clients, request, call) => clients.ingest.appendMetrics(request, call),
    encode: encodeAppendMetrics,
  }),
  route({
    method: "GET",
    path: "/runs/{run_id}/metrics",
    tag: "metrics",
    summary: "Points of a run",
    description:
      "By key, then step, then arrival. The limit counts the points of all keys together. The answer has an ETag that stays " +
      "until the run gets points; asked again with it in If-None-Match, the status is 304.",
    callers: readCallers,
    rate: "general",
    idempotency: "none",
    schemas: {
      query: listPointsQuery.schema,
      response: {
        type: "object",
        required: ["metrics", "limit", "truncated"],
        properties: {
          metrics: { type: "array", items: pointSchema },
          limit: { type: "integer" },
          truncated: { type: "boolean", description: "More points match than the limit allows." },
        },
      },
    },
    statuses: [200, 304, 400, 401, 403, 404],
    decode: decodeListPoints,
    rpc: (clients, request, call) => clients.ingestRead.listMetricPoints(request, call),
    encode: encodeListPoints,
  }),
  {
    method: "POST",
    path: "/api/metrics/series",
    tag: "metrics",
    summary: "Metrics of many runs",
    description:
      "The points of each run by step, up to a limit that keeps the whole answer within 120,000 points. With `buckets` " +
      "a series of more than four points per bucket is sampled instead: first, last, lowest and highest point of each bucket. " +
      "With `format: columns` several keys go into one request, and the answer has columns instead of an object for each point: " +
      "of a series of at most `buckets` points step, value and time, of others lowest, highest, mean, number, first and last of the finite values of " +
      "each bucket, and the number of the others. " +
      "This is a read, in the form of POST because of its many run ids; so If-None-Match works as on GET: while none of the " +
      "runs gets points, the same body with the ETag of the answer before is answered with 304.",
    callers: readCallers,
    rate: "general",
    idempotency: "none",
    body: "required",
    endsWithClient: true,
    schemas: { body: seriesBodySchema, response: seriesResponseSchema },
    statuses: [200, 304, 400, 401, 403, 404],
    handle: querySeries,
  },
  route({
    method: "POST",
    path: "/api/metrics/groups",
    tag: "metrics",
    summary: "Metrics over groups of runs",
    description:
      "Mean, standard deviation and other statistics of metrics over runs that have the same values in some columns: in each bucket over the means of its runs. " +
      "A run without points in a bucket is left out of it; nothing is carried forward. More than 1,000 runs, 200 groups, 32 MiB of configs or 16 MiB of values to group " +
      "by are 400.",
    callers: readCallers,
    rate: "general",
    idempotency: "none",
    body: "required",
    endsWithClient: true,
    schemas: { body: queryGroupsBody.schema, response: queryGroupsSchema },
    statuses: [200, 400, 401, 403, 404],
    decode: decodeQueryGroups,
    rpc: (clients, request, call) => clients.ingestRead.queryMetricGroups(request.message, call),
    encode: encodeQueryGroups,
  }),
];
