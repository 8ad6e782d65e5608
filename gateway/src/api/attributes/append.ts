import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import { ATTRIBUTE_TYPES, MEDIA_KINDS, OBJECT_VALUE_BYTES_MAX } from "@tidemark/limits";
import type {
  AppendAttributesRequestSchema,
  AppendAttributesResponse,
  AttributeInputSchema,
} from "@tidemark/proto/ingest/v1/ingest";
import type { RouteInput, RouteReply, Schema } from "../../route.ts";
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
  type Field,
  type Fields,
} from "../fields/field.ts";
import { instantText } from "../fields/instant.ts";
import { readItemsInSteps, withFaultInTurns } from "../fields/in-turns.ts";
import { step } from "../fields/number.ts";
import { text, uuid } from "../fields/text.ts";
import { checkHistogram, histogramSchema } from "../objects/histogram.ts";
import { encodeListAttributes } from "./list.ts";

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
