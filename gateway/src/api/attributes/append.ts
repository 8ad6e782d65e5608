import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest, isAppError } from "@tidemark/errors";
import type {
  AppendAttributesRequestSchema,
  AppendAttributesResponse,
  AttributeInputSchema,
} from "@tidemark/proto/ingest/v1/ingest";
import type { RouteInput, RouteReply } from "../../route.ts";
import {
  isRawNumber,
  present,
  readDocument,
  readList,
  readOptionalDocument,
  readOptionalInstant,
  readOptionalStep,
  readText,
  readUuid,
  toNumber,
  withFault,
  writeDocument,
  type Fields,
} from "../fields/index.ts";
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

/**
 * POST /api/runs/{run_id}/attributes as a message: `{"attributes": [item, …]}`, which may be empty,
 * or the fields of one item. Faults travel in it, because a missing run goes before them.
 */
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

const encoder = new TextEncoder();

function readAttributes(body: Fields): Item[] {
  const list = readList(body, "attributes");
  if (list === undefined) {
    if (present(body, "value") === undefined) throw badRequest("value is required", "value");
    return [readItem(body)];
  }
  return list.map((item, i) => {
    try {
      if (typeof item !== "object" || item === null || Array.isArray(item)) throw badRequest("must be an object");
      const fields = item as Fields;
      if (!Object.hasOwn(fields, "value")) throw badRequest("value is required");
      checkArtifact(fields);
      return readItem(fields);
    } catch (error) {
      throw isAppError(error) ? badRequest(`attributes[${i}]: ${error.message}`, "attributes") : error;
    }
  });
}

function readItem(fields: Fields): Item {
  const path = readText(fields, "path");
  const type = readType(fields);
  const step = readOptionalStep(fields, "step");
  const timestamp = readOptionalInstant(fields, "timestamp");
  const value = fields["value"];
  const histogram = type === "histogram_series";
  if (histogram) checkHistogram(value);
  const valueJson = writeDocument(value, "value", {
    unstorable: "replace",
    ...(histogram ? { bytesMax: HISTOGRAM_BYTES_MAX } : {}),
  });
  return {
    path,
    type,
    step,
    loggedAt: timestamp?.text ?? "",
    valueJson: encoder.encode(valueJson),
    summaryJson: encoder.encode(readDocument(fields, "summary", { unstorable: "replace" })),
  };
}

function readType(fields: Fields): string {
  const type = present(fields, "type");
  if (typeof type === "string" && objectKinds.includes(type)) {
    throw badRequest(`${type} values are rich objects: send them to /api/runs/{run_id}/objects`, "type");
  }
  const known = attributeTypes.find((one) => one === type);
  if (known === undefined) throw badRequest(`type must be one of ${attributeTypes.join(", ")}`, "type");
  return known;
}

/** Artifacts cannot be created yet, so none belongs to the run. */
function checkArtifact(fields: Fields): void {
  if (present(fields, "artifact_id") === undefined) return;
  readUuid(fields, "artifact_id");
  throw badRequest("artifact_id must be an artifact of the same run");
}

const COUNTS_MAX = 1024;
/** Most bytes of a histogram as JSON. */
const HISTOGRAM_BYTES_MAX = 65_536;
const METADATA_BYTES_MAX = 16_384;

/**
 * Checks the value of a histogram: `bins` and `counts` are lists of numbers, not empty, at most 1,024
 * counts of at least 0, and as many bins as counts (one bin each) or one more (their edges);
 * `metadata`, where sent, is an object of at most 16 KiB.
 * @throws bad_request
 */
function checkHistogram(value: unknown): void {
  if (typeof value !== "object" || value === null || Array.isArray(value) || isRawNumber(value)) {
    throw badRequest("value of a histogram must be an object", "value");
  }
  const fields = value as Fields;
  const bins = readNumbers(fields, "bins");
  const counts = readNumbers(fields, "counts");
  if (counts.length > COUNTS_MAX) throw badRequest(`counts must have at most ${COUNTS_MAX} items`, "value");
  if (counts.some((count) => count < 0)) throw badRequest("counts must not be negative", "value");
  if (bins.length !== counts.length && bins.length !== counts.length + 1) {
    throw badRequest("bins must have as many items as counts, or one more", "value");
  }
  readOptionalDocument(fields, "metadata", { unstorable: "replace", bytesMax: METADATA_BYTES_MAX });
}

function readNumbers(fields: Fields, name: string): number[] {
  const list = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (!Array.isArray(list) || list.length === 0) throw badRequest(`${name} must be a list of numbers`, "value");
  return list.map((item: unknown) => {
    const number = toNumber(item);
    if (number === undefined) throw badRequest(`${name} must hold finite numbers only`, "value");
    return number;
  });
}
