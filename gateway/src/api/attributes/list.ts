import type { MessageInitShape } from "@bufbuild/protobuf";
import { ATTRIBUTE_TYPES, ATTRIBUTES_PAGE_ROWS } from "@tidemark/limits";
import type { Attribute, ListAttributesRequestSchema, ListAttributesResponse } from "@tidemark/proto/ingest/v1/ingest";
import { raw, writeListInTurns, type Json } from "../../http/json.ts";
import type { RouteInput, RouteReply } from "../../route.ts";
import { object, withFault } from "../fields/field.ts";
import { limit, offset } from "../fields/number.ts";
import { textOrNull } from "../replies.ts";
import { numberOrNullSchema, objectSchema, textSchema, timeSchema, uuidOrNullSchema, uuidSchema } from "../schemas.ts";
import { queryText, textInputSchema } from "../fields/text.ts";

/** Query of GET /api/runs/{run_id}/attributes. */
export const listAttributesQuery = object({
  type: queryText({ description: "Exactly this type." }),
  path_prefix: queryText({ pattern: textInputSchema()["pattern"] }),
  limit: limit(ATTRIBUTES_PAGE_ROWS),
  offset: offset(),
});

/** GET /api/runs/{run_id}/attributes . Faults of the query travel in the message, because a missing run takes precedence. */
export function decodeListAttributes({
  params,
  query,
}: RouteInput): MessageInitShape<typeof ListAttributesRequestSchema> {
  const { value, fault } = withFault(() => listAttributesQuery.read(query));
  return { runId: params["run_id"]!, ...value, queryFault: fault };
}

/** Returns about the bytes that a page holds in memory. */
export function heldByAttributes({ attributes }: Pick<ListAttributesResponse, "attributes">): number {
  let bytes = 0;
  for (const { valueJson, summaryJson } of attributes) bytes += valueJson.length + summaryJson.length;
  return bytes;
}

/** `{"attributes": [row, …]}`, in turns with other work: a page may have 16 MiB. */
export async function encodeListAttributes(response: Pick<ListAttributesResponse, "attributes">): Promise<RouteReply> {
  return { body: { attributes: await writeListInTurns(response.attributes, writeAttribute) } };
}

/** A stored attribute. */
export const attributeSchema = objectSchema({
  id: { type: "integer" },
  org_id: uuidSchema,
  run_id: uuidSchema,
  path: textSchema,
  type: { type: "string", enum: ATTRIBUTE_TYPES },
  step: numberOrNullSchema,
  logged_at: timeSchema,
  value: {},
  summary: { type: "object" },
  artifact_id: uuidOrNullSchema,
  created_at: timeSchema,
});

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
    artifact_id: textOrNull(row.artifactId),
    created_at: row.createdAt,
  };
}
