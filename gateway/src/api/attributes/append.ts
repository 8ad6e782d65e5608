import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import { ATTRIBUTE_TYPES, MEDIA_KINDS, OBJECT_VALUE_BYTES_MAX } from "@tidemark/limits";
import type {
  AppendAttributesRequestSchema,
  AppendAttributesResponse,
  AttributeInputSchema,
} from "@tidemark/proto/ingest/v1/ingest";
import type { RouteInput, RouteReply, Schema } from "../../route.ts";
import { documentBytes, writeDocument } from "../fields/document.ts";
import {
  described,
  indexedList,
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
import { step } from "../fields/number.ts";
import { text, uuid } from "../fields/text.ts";
import { checkHistogram, histogramSchema } from "../objects/histogram.ts";
import { writeAttribute } from "./list.ts";

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

const items = optional(
  indexedList(listedItemSchema, {}, (item) => {
    if (!isObject(item)) throw badRequest("must be an object");
    if (!Object.hasOwn(item, "value")) throw badRequest("value is required");
    const artifactId = readField(artifact, item, "artifact_id");
    return { ...readItem(item), ...(artifactId === undefined ? {} : { artifactId }) };
  }),
);

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
export function decodeAppendAttributes({
  params,
  body,
}: RouteInput): MessageInitShape<typeof AppendAttributesRequestSchema> {
  const { value, fault } = withFault(() => readAttributes(body));
  return { runId: params["run_id"]!, attributes: value ?? [], bodyFault: fault };
}

/** `{"attributes": [row, …]}`, in the order in which they were sent. */
export function encodeAppendAttributes(response: AppendAttributesResponse): RouteReply {
  return { body: { attributes: response.attributes.map(writeAttribute) } };
}

type Item = MessageInitShape<typeof AttributeInputSchema>;

const utf8 = new TextEncoder();

function readAttributes(body: Fields): Item[] {
  const list = readField(items, body, "attributes");
  if (list !== undefined) return list;
  if (present(body, "value") === undefined) throw badRequest("value is required", "value");
  return [readItem(body)];
}

function readItem(fields: Fields): Item {
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
  const valueJson = writeDocument(value, "value", {
    unstorable: "replace",
    ...(isHistogram ? { bytesMax: OBJECT_VALUE_BYTES_MAX } : {}),
  });
  return {
    ...item,
    valueJson: utf8.encode(valueJson),
    summaryJson: readField(summary, fields, "summary"),
  };
}
