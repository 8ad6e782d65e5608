import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Attribute, ListAttributesRequestSchema, ListAttributesResponse } from "@tidemark/proto/ingest/v1/ingest";
import type { RouteInput, RouteReply } from "../../route.ts";
import { readLimit, readOffset, withFault } from "../fields/index.ts";
import { raw, type Json } from "../../http/json.ts";

const limits = { default: 1000, max: 5000 };

/** GET /api/runs/{run_id}/attributes as a message; faults of the query travel in it, because a missing run goes before them. */
export function decodeListAttributes({
  params,
  query,
}: RouteInput): MessageInitShape<typeof ListAttributesRequestSchema> {
  const { value, fault } = withFault(() => ({
    type: query["type"] ?? "",
    pathPrefix: query["path_prefix"] ?? "",
    limit: readLimit(query, limits),
    offset: readOffset(query),
  }));
  return { runId: params["run_id"]!, ...value, queryFault: fault };
}

/** `{"attributes": [row, …]}`. */
export function encodeListAttributes(response: ListAttributesResponse): RouteReply {
  return { body: { attributes: response.attributes.map(writeAttribute) } };
}

const decoder = new TextDecoder();

/** Writes an attribute; its documents have the digits that were sent. */
export function writeAttribute(row: Attribute): Json {
  return {
    id: row.id,
    org_id: row.orgId,
    run_id: row.runId,
    path: row.path,
    type: row.type,
    step: row.step ?? null,
    logged_at: row.loggedAt,
    value: raw(decoder.decode(row.valueJson)),
    summary: raw(decoder.decode(row.summaryJson)),
    artifact_id: null,
    created_at: row.createdAt,
  };
}
