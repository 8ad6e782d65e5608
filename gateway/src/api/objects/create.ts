import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import {
  MEDIA_KINDS,
  OBJECT_DOCUMENT_BYTES_MAX,
  OBJECT_KINDS,
  OBJECT_VALUE_BYTES_MAX,
  TABLE_COLUMNS_MAX,
  TABLE_ROWS_MAX,
} from "@tidemark/limits";
import type { CreateObjectRequestSchema, CreateObjectResponse } from "@tidemark/proto/ingest/v1/objects";
import type { RouteInput, RouteReply, Schema } from "../../route.ts";
import { freeObject, writeDocument } from "../fields/document.ts";
import { described, isObject, join, list, object, optional, present, required, type Fields } from "../fields/field.ts";
import { withFaultInTurns } from "../fields/in-turns.ts";
import { step } from "../fields/number.ts";
import { text, uuid, word } from "../fields/text.ts";
import { requireMessage } from "../replies.ts";
import { pathRunId } from "../runs/read.ts";
import { checkEvaluation, evaluationSchema } from "./evaluation.ts";
import { checkHistogram, histogramSchema } from "./histogram.ts";
import { objectJson } from "./objects.ts";
import { chunkSteps } from "./table-builder.ts";

type Request = MessageInitShape<typeof CreateObjectRequestSchema>;

const document = freeObject({ unstorable: "replace", bytesMax: OBJECT_DOCUMENT_BYTES_MAX });
/** A row of a table, whose cells are checked when it is written. */
export const tableRow = required<unknown>(
  { type: "object", maxProperties: TABLE_COLUMNS_MAX, propertyNames: document.schema["propertyNames"] },
  (value) => value,
);

const facts = object({
  key: text(),
  kind: word(OBJECT_KINDS),
  step: described(optional(step()), "Media without a step get that of their artifact."),
  artifact_id: described(
    optional(uuid()),
    "A plain artifact of the run; required for image, video and audio, left aside for histogram.",
  ),
  metadata: described(optional(document), "At most 16,384 bytes."),
  summary: described(optional(document), "At most 16,384 bytes. Of a table it gets row_count and columns."),
  rows: described(
    optional(list(tableRow, { itemsMax: TABLE_ROWS_MAX })),
    "Rows of a table, each of at most 128 columns and 16,384 bytes.",
  ),
});

const value = object({
  value: optional(
    required<unknown>({ description: "At most 65,536 bytes. Media have a value of their own." }, (sent) => sent),
  ),
});

/** The fields that a kind restricts more than other kinds do. */
function kindSchema(
  kinds: readonly string[],
  properties: Readonly<Record<string, Schema>>,
  names: string[] = [],
): Schema {
  return { ...(names.length === 0 ? {} : { required: names }), properties: { kind: { enum: kinds }, ...properties } };
}

const noRows = { rows: { type: "null" } };

const createObjectBody = join(facts, value);

/** Body of POST /api/runs/{run_id}/objects, with what each kind needs. */
export const createObjectSchema: Schema = {
  ...createObjectBody.schema,
  anyOf: [
    kindSchema(["table"], {}),
    kindSchema(MEDIA_KINDS, { ...noRows, artifact_id: uuid().schema }, ["artifact_id"]),
    kindSchema(["histogram"], { ...noRows, value: histogramSchema }, ["value"]),
    kindSchema(["classification_eval"], { ...noRows, value: evaluationSchema }, ["value"]),
  ],
};

/** POST /api/runs/{run_id}/objects. Faults of the body travel in the message, because a missing run takes precedence. */
export async function decodeCreateObject(input: RouteInput): Promise<Request> {
  const runId = pathRunId(input);
  const idempotencyKey = input.idempotencyKey ?? "";
  const { value: read, fault } = await withFaultInTurns(objectSteps(input.body));
  return { runId, idempotencyKey, ...read, bodyFault: fault };
}

/** `{"object": row}` */
export function encodeCreateObject(response: CreateObjectResponse): RouteReply {
  return { body: { object: objectJson(requireMessage(response.object)) }, replayed: response.replayed };
}

const utf8 = new TextEncoder();
const isMedia = (kind: string): boolean => MEDIA_KINDS.some((one) => one === kind);

function* objectSteps(body: Fields) {
  const { key, kind, step: at, artifactId, metadata: posted, summary, rows, value: sent } = createObjectBody.read(body);
  if (rows !== undefined && kind !== "table") throw badRequest("only tables have rows", "rows");
  if (isMedia(kind) && artifactId === undefined) throw badRequest("artifact_id is required", "artifact_id");
  if (kind === "histogram") checkHistogram(sent);
  if (kind === "classification_eval") checkEvaluation(sent);
  const metadata = posted ?? metadataOf(sent);
  return {
    key,
    kind,
    step: at,
    artifactId: artifactId ?? "",
    metadataJson: utf8.encode(metadata),
    summaryJson: utf8.encode(summary ?? "{}"),
    valueJson: utf8.encode(isMedia(kind) ? "" : valueOf(kind, sent, metadata)),
    chunks: rows === undefined ? [] : yield* chunkSteps(rows),
  };
}

/** Metadata of an object that was sent without any come from its value. */
function metadataOf(sent: unknown): string {
  const inner = isObject(sent) ? present(sent, "metadata") : undefined;
  return isObject(inner) ? document.check(inner, "metadata") : "{}";
}

function valueOf(kind: string, sent: unknown, metadata: string): string {
  if (sent === undefined) return `{"kind":${JSON.stringify(kind)},"metadata":${metadata}}`;
  return writeDocument(sent, "value", { unstorable: "replace", bytesMax: OBJECT_VALUE_BYTES_MAX });
}
