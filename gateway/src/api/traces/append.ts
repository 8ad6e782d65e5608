import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import { REDACTION_STATES, SPAN_KINDS, SPAN_STATUSES, TRACE_EVENT_KINDS, TRACE_LIMITS } from "@tidemark/limits";
import type {
  AppendTraceEventsRequestSchema,
  AppendTraceEventsResponse,
  TraceEventSchema,
} from "@tidemark/proto/traces/v1/traces";
import type { RouteInput, RouteReply } from "../../route.ts";
import { freeObject, writeDocument } from "../fields/document.ts";
import {
  described,
  isObject,
  listOf,
  object,
  optional,
  readField,
  readValue,
  required,
  withDefault,
  boolean,
  type Field,
  type Fields,
} from "../fields/field.ts";
import { instantMicros } from "../fields/instant.ts";
import { readItemsInSteps, withFaultInTurns } from "../fields/in-turns.ts";
import { integer, number } from "../fields/number.ts";
import { text, textOrEmpty, uuid, word } from "../fields/text.ts";

const { textBytesMax, attributesBytesMax, metricsBytesMax, linksBytesMax, previewBytesMax } = TRACE_LIMITS;

/** Describes an id with this many hexadecimal digits, read in lower case. */
function hexId(digits: number): Field<string> {
  const pattern = `^(?!0{${digits}}$)[0-9a-fA-F]{${digits}}$`;
  const shape = new RegExp(pattern);
  return required({ type: "string", pattern }, (value, name) => {
    if (typeof value !== "string" || !shape.test(value)) {
      throw badRequest(`${name} must be ${digits} hexadecimal digits that are not all 0`, name);
    }
    return value.toLowerCase();
  });
}

const TRACE_ID_DIGITS = 32;
const SPAN_ID_DIGITS = 16;

const utf8 = new TextEncoder();
const nothing = new Uint8Array();

/** Describes a free-form object, read as JSON; no bytes when absent. */
function document(bytesMax: number): Field<Uint8Array> {
  const { schema, check } = freeObject({ unstorable: "replace", bytesMax });
  const field = required(schema, (value, name) => utf8.encode(check(value, name)));
  return described(withDefault(field, nothing), `At most ${bytesMax} bytes as JSON.`);
}

const links: Field<Uint8Array> = withDefault(
  required({ type: ["object", "array"], description: `At most ${linksBytesMax} bytes as JSON.` }, (value, name) => {
    if (!isObject(value) && !Array.isArray(value)) throw badRequest(`${name} must be an object or a list`, name);
    return utf8.encode(writeDocument(value, name, { unstorable: "replace", bytesMax: linksBytesMax }));
  }),
  nothing,
);

/** Describes a preview, which is kept as it was sent; what cannot be stored in it is replaced. */
function preview(): Field<string> {
  const schema = {
    type: "string",
    maxLength: previewBytesMax,
    description: `At most ${previewBytesMax} bytes in UTF-8; only with the content policy preview.`,
  };
  const field = required(schema, (value, name) => {
    if (typeof value !== "string") throw badRequest(`${name} must be a text`, name);
    if (Buffer.byteLength(value) > previewBytesMax)
      throw badRequest(`${name} must have at most ${previewBytesMax} bytes`, name);
    return value.replaceAll("\0", "\uFFFD").toWellFormed();
  });
  return withDefault(field, "");
}

const fields = {
  trace_id: hexId(TRACE_ID_DIGITS),
  span_id: hexId(SPAN_ID_DIGITS),
  parent_span_id: described(withDefault(hexId(SPAN_ID_DIGITS), ""), "Another span than `span_id`."),
  event_id: described(uuid(), "No two events of a request have the same one."),
  sequence: described(
    integer({ min: 0 }),
    "No two events of a span in a request have the same one; the highest one counts.",
  ),
  event_kind: word(TRACE_EVENT_KINDS),
  name: text({ bytesMax: textBytesMax }),
  kind: word(SPAN_KINDS),
  status: word(SPAN_STATUSES),
  started_at: instantMicros,
  ended_at: described(optional(instantMicros), "At most a second before `started_at`, because clocks differ."),
  duration_ms: described(optional(number({ min: 0 })), "From start to end unless it is sent."),
  step: optional(number()),
  rank: optional(integer({ min: 0 })),
  thread_id: textOrEmpty({ bytesMax: textBytesMax }),
  rollout_id: textOrEmpty({ bytesMax: textBytesMax }),
  error_type: textOrEmpty({ bytesMax: textBytesMax }),
  input_preview: preview(),
  output_preview: preview(),
  error_preview: preview(),
  attributes: document(attributesBytesMax),
  metrics: document(metricsBytesMax),
  links,
  content_policy: withDefault(word(["off", "preview"]), "off", { default: "off" }),
  redaction_state: described(
    withDefault(word(REDACTION_STATES), REDACTION_STATES[0], { default: REDACTION_STATES[0] }),
    "`captured` needs the content policy preview.",
  ),
  truncated: withDefault(boolean(), false, { default: false }),
} as const;

const event = object(fields);

const bounds = { itemsMin: 1, itemsMax: TRACE_LIMITS.eventsMax };
const events = listOf(event.schema, bounds, (item) => item);

/** Body of POST /api/runs/{run_id}/traces/events. */
export const appendTraceEventsBody = object({ events });

/** POST /api/runs/{run_id}/traces/events. Faults of the body travel in the message, because a missing run takes precedence. */
export async function decodeAppendTraceEvents({
  params,
  body,
  idempotencyKey = "",
}: RouteInput): Promise<MessageInitShape<typeof AppendTraceEventsRequestSchema>> {
  const { value, fault } = await withFaultInTurns(eventSteps(body));
  return { runId: params["run_id"]!, idempotencyKey, events: value ?? [], bodyFault: fault };
}

function* eventSteps(body: Fields) {
  const items = readField(events, body, "events");
  return yield* readItemsInSteps(items, "events", bounds, function* (item) {
    if (!isObject(item)) throw badRequest("must be an object");
    const read = readEvent(item);
    yield;
    return read;
  });
}

/** `{"inserted": events, "trace_ids": […], "summary_updates": traces}`. */
export function encodeAppendTraceEvents({ inserted, traceIds, replayed }: AppendTraceEventsResponse): RouteReply {
  return { body: { inserted, trace_ids: traceIds, summary_updates: traceIds.length }, replayed };
}

/** Reads an event field by field, because a request has hundreds. @throws bad_request */
function readEvent(from: Fields): MessageInitShape<typeof TraceEventSchema> {
  const read = <Name extends keyof typeof fields>(name: Name) =>
    readValue(fields[name] as Field<unknown>, from[name], name) as (typeof fields)[Name] extends Field<infer T>
      ? T
      : never;
  return {
    traceId: read("trace_id"),
    spanId: read("span_id"),
    parentSpanId: read("parent_span_id"),
    eventId: read("event_id"),
    sequence: read("sequence"),
    eventKind: TRACE_EVENT_KINDS.indexOf(read("event_kind")) + 1,
    name: read("name"),
    kind: SPAN_KINDS.indexOf(read("kind")) + 1,
    status: SPAN_STATUSES.indexOf(read("status")) + 1,
    startedUs: read("started_at"),
    endedUs: read("ended_at"),
    durationMs: read("duration_ms"),
    step: read("step"),
    rank: read("rank"),
    threadId: read("thread_id"),
    rolloutId: read("rollout_id"),
    errorType: read("error_type"),
    inputPreview: read("input_preview"),
    outputPreview: read("output_preview"),
    errorPreview: read("error_preview"),
    attributesJson: read("attributes"),
    metricsJson: read("metrics"),
    linksJson: read("links"),
    previews: read("content_policy") === "preview",
    redactionState: REDACTION_STATES.indexOf(read("redaction_state")) + 1,
    truncated: read("truncated"),
  };
}
