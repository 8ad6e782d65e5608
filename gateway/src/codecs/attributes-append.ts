import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest, isAppError } from "@tidemark/errors";
import type {
  AppendAttributesRequestSchema,
  AppendAttributesResponse,
  AttributeInputSchema,
} from "@tidemark/proto/ingest/v1/ingest";
import type { RouteInput, RouteReply } from "../route.ts";
import { checkHistogram, HISTOGRAM_BYTES_MAX } from "./attribute-histogram.ts";
import { writeAttribute } from "./attributes-read.ts";
import {
  present,
  readDocument,
  readList,
  readOptionalInstant,
  readOptionalStep,
  readText,
  readUuid,
  withFault,
  writeDocument,
  type Fields,
} from "./fields.ts";

/** What an attribute can be. */
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

/** Artifacts cannot be made yet, so none can belong to the run. */
function checkArtifact(fields: Fields): void {
  if (present(fields, "artifact_id") === undefined) return;
  readUuid(fields, "artifact_id");
  throw badRequest("artifact_id must be an artifact of the same run");
}
