import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import { ATTRIBUTE_TYPES, ATTRIBUTES_PAGE_ROWS, MEDIA_KINDS, OBJECT_VALUE_BYTES_MAX } from "@tidemark/limits";
import type {
  AppendAttributesRequestSchema,
  AppendAttributesResponse,
  Attribute,
  AttributeInputSchema,
  ListAttributesRequestSchema,
  ListAttributesResponse,
} from "@tidemark/proto/ingest/v1/ingest";
import type { RouteInput, RouteReply, Schema } from "../../route.ts";
import { raw, writeListInTurns, type Json } from "../../http/json.ts";
import { documentBytes, documentBytesSteps, documentSteps } from "../fields/document.ts";
import {
  described,
  isObject,
  object,
  optional,
  present,
  readField,
  required,
  withDefault,
  withFault,
  type Field,
  type Fields,
} from "../fields/field.ts";
import { instantText } from "../fields/instant.ts";
import { readItemsInSteps, withFaultInTurns } from "../fields/in-turns.ts";
import { limit, offset, step } from "../fields/number.ts";
import { queryText, text, textInputSchema, uuid } from "../fields/text.ts";
import { checkHistogram, histogramSchema } from "../objects/histogram.ts";
import {
  numberOrNullSchema,
  objectSchema,
  textOrNull,
  textSchema,
  timeSchema,
  uuidOrNullSchema,
  uuidSchema,
} from "../replies.ts";

const objectKinds = ["table", ...MEDIA_KINDS];

const typeSchema: Schema = { type: "string", enum: ATTRIBUTE_TYPES };

/** An absent type and an unknown one get the same text. */
const type: Field<string> = {
  ...required(typeSchema, readType),
  absent: (name) => readType(undefined, name),
};

function readType(value: unknown, name: string): string {
  if (typeof value === "string" && objectKinds.includes(value)) {
    throw badRequest(`${value} values are rich objects: send them to /api/runs/{run_id}/objects`, name);
  }
  const known = ATTRIBUTE_TYPES.find((one) => one === value);
  if (known === undefined) throw badRequest(`type must be one of ${ATTRIBUTE_TYPES.join(", ")}`, name);
  return known;
}

const path = text();
const optionalStep = optional(step());
const loggedAt = withDefault(instantText, "");
const facts = object({ path, type, step: optionalStep, timestamp: loggedAt });
const summary = documentBytes();
const artifact = described(optional(uuid()), "An artifact of the same run.");

const itemSchema: Schema = {
  type: "object",
  required: ["path", "type", "value"],
  properties: {
    ...(facts.schema["properties"] as object),
    value: { description: "Any JSON value; of a histogram an object with bins and counts." },
    summary: summary.schema,
  },
  anyOf: [
    { properties: { type: { enum: ATTRIBUTE_TYPES.filter((one) => one !== "histogram_series") } } },
    { properties: { type: { const: "histogram_series" }, value: histogramSchema } },
  ],
};

const listedItemSchema: Schema = {
  ...itemSchema,
  properties: { ...(itemSchema["properties"] as object), artifact_id: artifact.schema },
};

/** Body of POST /api/runs/{run_id}/attributes: `{"attributes": [item, …]}`, which may be empty, or the fields of one item. */
export const appendAttributesSchema: Schema = {
  type: "object",
  anyOf: [
    { required: ["attributes"], properties: { attributes: { type: "array", items: listedItemSchema } } },
    {
      ...itemSchema,
      properties: {
        ...(itemSchema["properties"] as object),
        attributes: { type: "null" },
        value: { type: ["string", "number", "boolean", "object", "array"] },
      },
    },
  ],
};

/** POST /api/runs/{run_id}/attributes. Faults travel in the message, because a missing run takes precedence. */
export async function decodeAppendAttributes({
  params,
  body,
}: RouteInput): Promise<MessageInitShape<typeof AppendAttributesRequestSchema>> {
  const { value, fault } = await withFaultInTurns(attributeSteps(body));
  return { runId: params["run_id"]!, attributes: value ?? [], bodyFault: fault };
}

/** `{"attributes": [row, …]}`, in the order in which they were sent. */
export function encodeAppendAttributes(response: AppendAttributesResponse): Promise<RouteReply> {
  return encodeListAttributes(response);
}

type Item = MessageInitShape<typeof AttributeInputSchema>;

const utf8 = new TextEncoder();

function* attributeSteps(body: Fields): Generator<void, Item[]> {
  const list = present(body, "attributes");
  if (list !== undefined) return yield* readItemsInSteps(list, "attributes", {}, listedSteps);
  if (present(body, "value") === undefined) throw badRequest("value is required", "value");
  return [yield* itemSteps(body)];
}

function* listedSteps(item: unknown): Generator<void, Item> {
  if (!isObject(item)) throw badRequest("must be an object");
  if (!Object.hasOwn(item, "value")) throw badRequest("value is required");
  const artifactId = readField(artifact, item, "artifact_id");
  const read = yield* itemSteps(item);
  yield;
  return { ...read, ...(artifactId === undefined ? {} : { artifactId }) };
}

function* itemSteps(fields: Fields): Generator<void, Item> {
  // Field by field, because there may be thousands of items.
  const item = {
    path: readField(path, fields, "path"),
    type: readField(type, fields, "type"),
    step: readField(optionalStep, fields, "step"),
    loggedAt: readField(loggedAt, fields, "timestamp"),
  };
  const value = fields["value"];
  const isHistogram = item.type === "histogram_series";
  if (isHistogram) checkHistogram(value);
  const valueJson = yield* documentSteps(value, "value", {
    unstorable: "replace",
    ...(isHistogram ? { bytesMax: OBJECT_VALUE_BYTES_MAX } : {}),
  });
  const summaryJson = yield* documentBytesSteps(present(fields, "summary"), "summary");
  return { ...item, valueJson: utf8.encode(valueJson), summaryJson };
}

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
