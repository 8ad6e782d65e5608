import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import type {
  AppendAttributesRequestSchema,
  AppendAttributesResponse,
  AttributeInputSchema,
} from "@tidemark/proto/ingest/v1/ingest";
import type { RouteInput, RouteReply, Schema } from "../../route.ts";
import { documentBytes, freeObject, writeDocument } from "../fields/document.ts";
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
import { step, toNumber } from "../fields/number.ts";
import { text, uuid } from "../fields/text.ts";
import { numberSchema } from "../schemas.ts";
import { writeAttribute } from "./list.ts";

/** The types of attributes. */
export const attributeTypes = [
  "config",
  "float_series",
  "string_series",
  "file",
  "file_series",
  "histogram_series",
  "tag",
] as const;
const objectKinds = ["table", "image", "video", "audio"];

const typeSchema: Schema = { type: "string", enum: attributeTypes };

/** An absent type and an unknown one get the same text. */
const type: Field<string> = {
  ...required(typeSchema, readType),
  absent: (name) => readType(undefined, name),
};

function readType(value: unknown, name: string): string {
  if (typeof value === "string" && objectKinds.includes(value)) {
    throw badRequest(`${value} values are rich objects: send them to /api/runs/{run_id}/objects`, name);
  }
  const known = attributeTypes.find((one) => one === value);
  if (known === undefined) throw badRequest(`type must be one of ${attributeTypes.join(", ")}`, name);
  return known;
}

const COUNTS_MAX = 1024;
/** Most bytes of a histogram as JSON. */
const HISTOGRAM_BYTES_MAX = 65_536;
const metadata = optional(freeObject({ unstorable: "replace", bytesMax: 16_384 }));

const histogramSchema: Schema = {
  type: "object",
  required: ["bins", "counts"],
  properties: {
    bins: { type: "array", minItems: 1, maxItems: COUNTS_MAX + 1, items: numberSchema },
    counts: { type: "array", minItems: 1, maxItems: COUNTS_MAX, items: { type: "number", minimum: 0 } },
    metadata: metadata.schema,
  },
  description:
    "`bins` has as many items as `counts` (one for each bin), or one more (their edges). At most 65,536 bytes.",
};

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
    { properties: { type: { enum: attributeTypes.filter((one) => one !== "histogram_series") } } },
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
    // Artifacts cannot be created yet, so none belongs to the run.
    if (readField(artifact, item, "artifact_id") !== undefined) {
      throw badRequest("artifact_id must be an artifact of the same run");
    }
    return readItem(item);
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
    ...(isHistogram ? { bytesMax: HISTOGRAM_BYTES_MAX } : {}),
  });
  return {
    ...item,
    valueJson: utf8.encode(valueJson),
    summaryJson: readField(summary, fields, "summary"),
  };
}

/** Checks the value of a histogram; see `histogramSchema`. @throws bad_request */
function checkHistogram(value: unknown): void {
  if (!isObject(value)) throw badRequest("value of a histogram must be an object", "value");
  const bins = readNumbers(value, "bins");
  const counts = readNumbers(value, "counts");
  if (counts.length > COUNTS_MAX) throw badRequest(`counts must have at most ${COUNTS_MAX} items`, "value");
  if (counts.some((count) => count < 0)) throw badRequest("counts must not be negative", "value");
  if (bins.length !== counts.length && bins.length !== counts.length + 1) {
    throw badRequest("bins must have as many items as counts, or one more", "value");
  }
  readField(metadata, value, "metadata");
}

function readNumbers(fields: Fields, name: string): number[] {
  const list = present(fields, name);
  if (!Array.isArray(list) || list.length === 0) throw badRequest(`${name} must be a list of numbers`, "value");
  return list.map((item: unknown) => {
    const number = toNumber(item);
    if (number === undefined) throw badRequest(`${name} must hold finite numbers only`, "value");
    return number;
  });
}
