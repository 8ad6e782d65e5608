import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
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
  type OtlpEvent,
  type OtlpLink,
  type OtlpSpan,
  type ResourceSpans,
  type SpanCounter,
} from "./span.ts";

// Read by hand and not into generated messages: attributes are most of a request, and as messages each of them costs several objects and a second walk.
// The numbers of the fields are those of opentelemetry-proto 1.x.

/** `STATUS_CODE_ERROR` of opentelemetry-proto. */
const STATUS_ERROR = 2;

type Field = (number: number, type: WireType) => boolean;

/** The reader, with the counter of its fields. */
type Source = { readonly reader: BinaryReader; readonly counter: SpanCounter };

/** Reads the fields of a message of a span or a resource up to `end`. `field` returns whether it has read the given field; other fields are skipped. */
function eachField({ reader, counter }: Source, end: number, field: Field): void {
  for (const [number, type] of fieldsUpTo(reader, end)) {
    counter.fields(1);
    if (!field(number, type)) reader.skip(type, number);
  }
}

/** Yields the fields of a message up to `end`; each has to be read or skipped before the next. */
function* fieldsUpTo(reader: BinaryReader, end: number): Generator<[number, WireType]> {
  while (reader.pos < end) yield reader.tag();
  if (reader.pos !== end) throw new RangeError("a field ends outside of its message");
}

/** Returns where the message whose length comes next ends. */
function endOf(reader: BinaryReader): number {
  const length = reader.uint32();
  if (length > reader.len - reader.pos) throw new RangeError("a message ends outside of the request");
  return reader.pos + length;
}

const isMessage = (type: WireType): boolean => type === WireType.LengthDelimited;

/**
 * Reads an `ExportTraceServiceRequest` in protobuf, resource by resource. Fields that are not known are skipped. Pauses after each span, scope and resource,
 * where the caller may let other work run. Resources without spans are left out.
 * @param spansMax most spans that the request may have
 * @throws SpansFault for bytes that are none, for more spans, and for a span or a resource of too many fields
 */
export function* readProtobufSpans(bytes: Uint8Array, spansMax: number): Generator<void, ResourceSpans[]> {
  const reader = new BinaryReader(bytes);
  const source = { reader, counter: createSpanCounter(spansMax) };
  const resources: ResourceSpans[] = [];
  try {
    for (const [number, type] of fieldsUpTo(reader, reader.len)) {
      if (number === 1 && isMessage(type)) {
        const resource = yield* readResourceSpans(source);
        if (resource.spans.length > 0) resources.push(resource);
      } else reader.skip(type, number);
      yield;
    }
  } catch (error) {
    if (error instanceof SpansFault) throw error;
    throw new SpansFault("the body is not a valid ExportTraceServiceRequest in protobuf");
  }
  return resources;
}

function* readResourceSpans(source: Source): Generator<void, ResourceSpans> {
  const { reader, counter } = source;
  const resource = new Map<string, AnyValue>();
  const spans: OtlpSpan[] = [];
  for (const [number, type] of fieldsUpTo(reader, endOf(reader))) {
    if (number === 1 && isMessage(type)) {
      counter.resource();
      eachField(source, endOf(reader), attributesAt(1, source, resource));
    } else if (number === 2 && isMessage(type)) yield* readScopeSpans(source, spans);
    else reader.skip(type, number);
    yield;
  }
  return { resource, spans };
}

function* readScopeSpans(source: Source, spans: OtlpSpan[]): Generator<void> {
  const { reader, counter } = source;
  for (const [number, type] of fieldsUpTo(reader, endOf(reader))) {
    if (number === 2 && isMessage(type)) {
      counter.span();
      spans.push(readSpan(source));
    } else reader.skip(type, number);
    yield;
  }
}

function readSpan(source: Source): OtlpSpan {
  const { reader } = source;
  const attributes = new Map<string, AnyValue>();
  const events: OtlpEvent[] = [];
  const links: OtlpLink[] = [];
  const attribute = attributesAt(9, source, attributes);
  let [traceId, spanId, parentSpanId, name, statusText] = ["", "", "", "", ""];
  let [startNs, endNs] = [0n, 0n];
  let failed = false;
  eachField(source, endOf(reader), (number, type) => {
    if (attribute(number, type)) return true;
    if (type === WireType.Bit64 && number === 7) startNs = BigInt(reader.fixed64());
    else if (type === WireType.Bit64 && number === 8) endNs = BigInt(reader.fixed64());
    else if (!isMessage(type)) return false;
    else if (number === 1) traceId = hex(reader);
    else if (number === 2) spanId = hex(reader);
    else if (number === 4) parentSpanId = hex(reader);
    else if (number === 5) name = storableText(reader.string());
    else if (number === 11) events.push(readEvent(source));
    else if (number === 13) links.push(readLink(source));
    else if (number === 15) {
      eachField(source, endOf(reader), (part, partType) => {
        if (part === 2 && isMessage(partType)) statusText = storableText(reader.string());
        else if (part === 3 && partType === WireType.Varint) failed = reader.int32() === STATUS_ERROR;
        else return false;
        return true;
      });
    } else return false;
    return true;
  });
  return { traceId, spanId, parentSpanId, name, startNs, endNs, attributes, events, links, failed, statusText };
}

function readEvent(source: Source): OtlpEvent {
  const { reader } = source;
  const attributes = new Map<string, AnyValue>();
  const attribute = attributesAt(3, source, attributes);
  let name = "";
  eachField(source, endOf(reader), (number, type) => {
    if (attribute(number, type)) return true;
    if (number !== 2 || !isMessage(type)) return false;
    name = storableText(reader.string());
    return true;
  });
  return { name, attributes };
}

function readLink(source: Source): OtlpLink {
  const { reader } = source;
  const attributes = new Map<string, AnyValue>();
  const attribute = attributesAt(4, source, attributes);
  let [traceId, spanId] = ["", ""];
  eachField(source, endOf(reader), (number, type) => {
    if (attribute(number, type)) return true;
    if (!isMessage(type)) return false;
    if (number === 1) traceId = hex(reader);
    else if (number === 2) spanId = hex(reader);
    else return false;
    return true;
  });
  return { traceId, spanId, attributes };
}

/** Returns what reads the attributes of a message, which are its field `wanted`, into `attributes`. */
function attributesAt(wanted: number, source: Source, attributes: Map<string, AnyValue>, depth = 1): Field {
  const { reader } = source;
  return (number, type) => {
    if (number !== wanted || !isMessage(type)) return false;
    let key = "";
    let value = nullValue;
    eachField(source, endOf(reader), (part, partType) => {
      if (!isMessage(partType)) return false;
      if (part === 1) key = storableText(reader.string());
      else if (part === 2) value = readValue(source, depth);
      else return false;
      return true;
    });
    attributes.set(key, value);
    return true;
  };
}

function readValue(source: Source, depth: number): AnyValue {
  const { reader } = source;
  let value = nullValue;
  eachField(source, endOf(reader), (number, type) => {
    if (number === 1 && isMessage(type)) value = textValue(reader.string());
    else if (number === 2 && type === WireType.Varint) value = booleanValue(reader.bool());
    else if (number === 3 && type === WireType.Varint) value = integerValue(String(reader.int64()));
    else if (number === 4 && type === WireType.Bit64) value = doubleValue(reader.double());
    else if (depth >= VALUE_DEPTH_MAX) return false;
    else if (number === 5 && isMessage(type)) value = readList(source, depth + 1);
    else if (number === 6 && isMessage(type)) value = mapValue(readMap(source, depth + 1));
    else if (number === 7 && isMessage(type)) value = bytesValue(reader.bytes());
    else return false;
    return true;
  });
  return value;
}

function readList(source: Source, depth: number): AnyValue {
  const { reader } = source;
  const values: AnyValue[] = [];
  eachField(source, endOf(reader), (number, type) => {
    if (number !== 1 || !isMessage(type)) return false;
    values.push(readValue(source, depth));
    return true;
  });
  return listValue(values);
}

function readMap(source: Source, depth: number): Attributes {
  const { reader } = source;
  const values = new Map<string, AnyValue>();
  eachField(source, endOf(reader), attributesAt(1, source, values, depth));
  return values;
}

function hex(reader: BinaryReader): string {
  const bytes = reader.bytes();
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
}
