import { route, type Route, type Schema } from "../../route.ts";
import { ingestCallers, readCallers } from "../callers.ts";
import {
  appendAttributesSchema,
  attributeSchema,
  decodeAppendAttributes,
  decodeListAttributes,
  encodeAppendAttributes,
  encodeListAttributes,
  heldByAttributes,
  listAttributesQuery,
} from "./attributes.ts";

const rows: Schema = {
  type: "object",
  required: ["attributes"],
  properties: {
    attributes: {
      type: "array",
      items: attributeSchema,
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
      "A list of attributes, or the fields of a single one. A path that was logged before gets one more row. Texts of type string_series at console/stdout and console/stderr are console lines as well; those of type tag at sys/tags and sys/group_tags are found by searches for tags.",
    callers: ingestCallers,
    rate: "ingest",
    isHeartbeat: true,
    idempotency: "none",
    body: "required",
    bodyBytesMax: 4 * 1024 * 1024,
    exactNumbers: true,
    bareTokens: true,
    schemas: {
      body: appendAttributesSchema,
      response: rows,
    },
    statuses: [200, 400, 401, 402, 403, 404],
    decode: decodeAppendAttributes,
    rpc: (clients, request, call) => clients.ingest.appendAttributes(request, call),
    encode: encodeAppendAttributes,
  }),
  route({
    method: "GET",
    path: "/api/runs/{run_id}/attributes",
    tag: "attributes",
    summary: "Attributes of a run",
    description:
      "By step, those without one first, then in the order of arrival. A page of more than 16 MiB is refused; the error says how many rows fit.",
    callers: readCallers,
    rate: "general",
    idempotency: "none",
    queryNeverBlank: ["path_prefix"],
    schemas: {
      query: listAttributesQuery.schema,
      response: rows,
    },
    statuses: [200, 400, 401, 403, 404],
    decode: decodeListAttributes,
    rpc: (clients, request, call) => clients.ingestRead.listAttributes(request, call),
    encode: encodeListAttributes,
    heldBytes: heldByAttributes,
  }),
];
