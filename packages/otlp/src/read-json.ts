import { isExactNumber } from "@tidemark/values";
import {
  booleanValue,
  bytesValue,
  doubleValue,
  integerValue,
  listValue,
  mapValue,
  nullValue,
  storableText,
  textValue,
  VALUE_DEPTH_MAX,
  type AnyValue,
  createSpanCounter,
  SpansFault,
  type Attributes,
  type OtlpSpan,
  type ResourceSpans,
  type SpanCounter,
} from "./span.ts";

// OTLP/JSON (OpenTelemetry specification, OTLP, "JSON Protobuf Encoding"): keys in lower camel case, ids in hexadecimal, 64-bit integers as decimal texts
// or numbers, enumerations as numbers; keys that are not known are ignored, and null is the same as absent.

type Fields = Readonly<Record<string, unknown>>;

const STATUS_ERROR = 2;
const UINT64_MAX = 2n ** 64n - 1n;

/** Fields that the same has in protobuf. */
const FIELDS_OF = { attribute: 4, item: 2, eventOrLink: 1 } as const;

/**
 * Reads an `ExportTraceServiceRequest` in JSON, which was parsed; integers beyond 2^53 keep their digits if they are exact numbers.
 * Pauses after each span, scope and resource, where the caller may let other work run. Resources without spans are left out.
 * @param spansMax most spans that the request may have
 * @throws SpansFault if it is not one, for more spans, and for a span or a resource of too many fields
 */
export function* readJsonSpans(body: unknown, spansMax: number): Generator<void, ResourceSpans[]> {
  const counter = createSpanCounter(spansMax);
  const resources: ResourceSpans[] = [];
  for (const item of list(fields(body, "the body"), "resourceSpans")) {
    const spans: OtlpSpan[] = [];
    for (const scope of list(item, "scopeSpans")) {
      for (const span of list(scope, "spans")) {
        counter.span();
        spans.push(readSpan(span, counter));
        yield;
      }
      yield;
    }
    counter.resource();
    const resource = attributesOf(fields(item["resource"] ?? {}, "resource"), counter);
    if (spans.length > 0) resources.push({ resource, spans });
    yield;
  }
  return resources;
}

function readSpan(span: Fields, counter: SpanCounter): OtlpSpan {
  const status = fields(span["status"] ?? {}, "status");
  const code = status["code"];
  return {
    traceId: idOf(span, "traceId"),
    spanId: idOf(span, "spanId"),
    parentSpanId: idOf(span, "parentSpanId"),
    name: textOf(span, "name"),
    startNs: nanosecondsOf(span, "startTimeUnixNano"),
    endNs: nanosecondsOf(span, "endTimeUnixNano"),
    attributes: attributesOf(span, counter),
    events: list(span, "events").map((event) => {
      counter.fields(FIELDS_OF.eventOrLink);
      return { name: textOf(event, "name"), attributes: attributesOf(event, counter) };
    }),
    links: list(span, "links").map((link) => {
      counter.fields(FIELDS_OF.eventOrLink);
      return {
        traceId: idOf(link, "traceId"),
        spanId: idOf(link, "spanId"),
        attributes: attributesOf(link, counter),
      };
    }),
    failed: code === STATUS_ERROR || code === "STATUS_CODE_ERROR",
    statusText: textOf(status, "message"),
  };
}

function attributesOf(owner: Fields, counter: SpanCounter, name = "attributes", depth = 1): Attributes {
  const attributes = new Map<string, AnyValue>();
  for (const item of list(owner, name)) {
    counter.fields(FIELDS_OF.attribute);
    attributes.set(textOf(item, "key"), valueOf(fields(item["value"] ?? {}, "value"), counter, depth));
  }
  return attributes;
}

function valueOf(value: Fields, counter: SpanCounter, depth: number): AnyValue {
  const has = (name: string): boolean => value[name] !== undefined && value[name] !== null;
  if (has("stringValue")) return textValue(textOf(value, "stringValue"));
  if (has("boolValue")) return booleanValue(typed(value["boolValue"], "boolean", "boolValue"));
  if (has("intValue")) return integerOf(value["intValue"]);
  if (has("doubleValue")) return doubleOf(value["doubleValue"]);
  if (has("bytesValue")) return bytesValue(Buffer.from(textOf(value, "bytesValue"), "base64"));
  if (depth >= VALUE_DEPTH_MAX) return nullValue;
  if (has("arrayValue")) {
    const values = list(fields(value["arrayValue"], "arrayValue"), "values");
    return listValue(
      values.map((item) => {
        counter.fields(FIELDS_OF.item);
        return valueOf(item, counter, depth + 1);
      }),
    );
  }
  if (has("kvlistValue")) {
    return mapValue(attributesOf(fields(value["kvlistValue"], "kvlistValue"), counter, "values", depth + 1));
  }
  return nullValue;
}

function integerOf(value: unknown): AnyValue {
  const sent = isExactNumber(value) ? value.rawJSON : value;
  if (typeof sent === "number" && Number.isInteger(sent)) return doubleValue(sent);
  if (typeof sent === "string" && /^-?\d{1,19}$/.test(sent)) return integerValue(BigInt(sent).toString());
  throw wrong("intValue");
}

const doubles: Readonly<Record<string, number>> = { NaN, Infinity, "-Infinity": -Infinity };

function doubleOf(sent: unknown): AnyValue {
  if (isExactNumber(sent)) return doubleValue(Number(sent.rawJSON));
  const number = typeof sent === "string" ? (doubles[sent] ?? (sent.trim() === "" ? undefined : Number(sent))) : sent;
  if (typeof number !== "number" || (Number.isNaN(number) && sent !== "NaN")) throw wrong("doubleValue");
  return doubleValue(number);
}

function idOf(owner: Fields, name: string): string {
  const id = textOf(owner, name);
  if (!/^(?:[0-9a-f]{2})*$/i.test(id)) throw wrong(name);
  return id.toLowerCase();
}

function nanosecondsOf(owner: Fields, name: string): bigint {
  const value = owner[name] ?? 0;
  const sent = isExactNumber(value) ? value.rawJSON : value;
  const isInteger = typeof sent === "string" ? /^\d{1,20}$/.test(sent) : Number.isInteger(sent) && Number(sent) >= 0;
  const nanoseconds = isInteger ? BigInt(sent as string | number) : undefined;
  if (nanoseconds === undefined || nanoseconds > UINT64_MAX) throw wrong(name);
  return nanoseconds;
}

function textOf(owner: Fields, name: string): string {
  return storableText(typed(owner[name] ?? "", "string", name));
}

function typed(value: unknown, type: "string", name: string): string;
function typed(value: unknown, type: "boolean", name: string): boolean;
function typed(value: unknown, type: string, name: string): unknown {
  if (typeof value !== type) throw wrong(name);
  return value;
}

function list(owner: Fields, name: string): Fields[] {
  const value = owner[name] ?? [];
  if (!Array.isArray(value)) throw wrong(name);
  return value.map((item) => fields(item, name));
}

function fields(value: unknown, name: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value) || isExactNumber(value)) throw wrong(name);
  return value as Fields;
}

function wrong(name: string): SpansFault {
  return new SpansFault(`the body is not a valid ExportTraceServiceRequest in JSON: ${name}`);
}
