import { route, type Route, type Schema } from "../../route.ts";
import { ingestCallers, readCallers } from "../callers.ts";
import { attributeTypes, decodeAppendAttributes, encodeAppendAttributes } from "./append.ts";
import { decodeListAttributes, encodeListAttributes } from "./list.ts";

const type: Schema = { type: "string", enum: attributeTypes };

const item: Schema = {
  type: "object",
  required: ["path", "type", "value"],
  properties: {
    path: { type: "string", description: "At most 512 bytes." },
    type,
    value: { description: "Any JSON value." },
    step: { type: ["number", "null"], minimum: 0 },
    timestamp: { type: ["string", "null"], format: "date-time" },
    summary: { type: ["object", "null"] },
    artifact_id: { type: ["string", "null"], format: "uuid", description: "An artifact of the same run." },
  },
};

const rows: Schema = {
  type: "object",
  required: ["attributes"],
  properties: {
    attributes: {
      type: "array",
      items: {
        type: "object",
        required: ["id", "org_id", "run_id", "path", "type", "step", "logged_at", "value", "summary", "created_at"],
        properties: {
          id: { type: "integer" },
          org_id: { type: "string", format: "uuid" },
          run_id: { type: "string", format: "uuid" },
          path: { type: "string" },
          type,
          step: { type: ["number", "null"] },
          logged_at: { type: "string", format: "date-time" },
          value: {},
          summary: { type: "object" },
          artifact_id: { type: ["string", "null"] },
          created_at: { type: "string", format: "date-time" },
        },
      },
    },
  },
};

/** Attributes: config values, tags, texts, histograms. */
export const attributesRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: "/api/runs/{run_id}/attributes",
    tag: "attributes",
    summary: "Log attributes, all or none",
    description:
      "A list of attributes, or the fields of a single one. A path that was logged before gets one more row.",
    callers: ingestCallers,
    rate: "ingest",
    idempotency: "none",
    body: "required",
    bodyBytesMax: 4 * 1024 * 1024,
    exactNumbers: true,
    schemas: {
      body: {
        anyOf: [
          { type: "object", required: ["attributes"], properties: { attributes: { type: "array", items: item } } },
          item,
        ],
      },
      response: rows,
    },
    statuses: [200, 400, 401, 403, 404],
    decode: decodeAppendAttributes,
    rpc: (clients, request, call) => clients.ingest.appendAttributes(request, call),
    encode: encodeAppendAttributes,
  }),
  route({
    method: "GET",
    path: "/api/runs/{run_id}/attributes",
    tag: "attributes",
    summary: "Attributes of a run",
    description: "By step, those without one first, then in the order of arrival.",
    callers: readCallers,
    rate: "general",
    idempotency: "none",
    queryNeverBlank: ["path_prefix"],
    schemas: {
      query: {
        type: { type: "string", description: "Exactly this type." },
        path_prefix: { type: "string", minLength: 1 },
        limit: { type: "integer", minimum: 1, maximum: 5000, default: 1000 },
        offset: { type: "integer", minimum: 0, default: 0 },
      },
      response: rows,
    },
    statuses: [200, 400, 401, 403, 404],
    decode: decodeListAttributes,
    rpc: (clients, request, call) => clients.ingestRead.listAttributes(request, call),
    encode: encodeListAttributes,
  }),
];
