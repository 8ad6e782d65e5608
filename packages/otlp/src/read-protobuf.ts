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
} from "./any-value.ts";
import {
  createSpanCounter,
  SpansFault,
  type Attributes,
  type OtlpEvent,
  type OtlpLink,
  type OtlpSpan,
  type ResourceSpans,
} from "./span.ts";

// Read by hand and not into generated messages: attributes are most of a request, and as messages each of them costs several objects and a second walk.
// The numbers of the fields are those of opentelemetry-proto 1.x.

/** `STATUS_CODE_ERROR` of opentelemetry-proto. */
const STATUS_ERROR = 2;

type Field = (number: number, type: WireType) => boolean;

/** Reads the fields of a message up to `end`. `field` tells whether it has read the one it is given; others are skipped. */
function eachField(reader: BinaryReader, end: number, field: Field): void {
  while (reader.pos < end) {
    const [number, type] = reader.tag();
    if (!field(number, type)) reader.skip(type, number);
  }
  if (reader.pos !== end) throw new RangeError("a field ends outside of its message");
}

/** Returns where the message ends whose length comes next. */
function endOf(reader: BinaryReader): number {
  const length = reader.uint32();
  if (length > reader.len - reader.pos) throw new RangeError("a message ends outside of the request");
  return reader.pos + length;
}

const isMessage = (type: WireType): boolean => type === WireType.LengthDelimited;

/**
 * Reads an `ExportTraceServiceRequest` in protobuf, resource by resource. Fields that are not known are skipped.
 * @param spansMax most spans that the request may have
 * @throws SpansFault for bytes that are none, and for more spans
 */
export function readProtobufSpans(bytes: Uint8Array, spansMax: number): ResourceSpans[] {
  const count = createSpanCounter(spansMax);
  const reader = new BinaryReader(bytes);
  const resources: ResourceSpans[] = [];
  try {
    eachField(reader, reader.len, (number, type) => {
      if (number !== 1 || !isMessage(type)) return false;
      resources.push(readResourceSpans(reader, count));
      return true;
    });
  } catch (error) {
    if (error instanceof SpansFault) throw error;
    throw new SpansFault("the body is not a valid ExportTraceServiceRequest in protobuf");
  }
  return resources;
}

function readResourceSpans(reader: BinaryReader, count: () => void): ResourceSpans {
  const resource = new Map<string, AnyValue>();
  const spans: OtlpSpan[] = [];
  eachField(reader, endOf(reader), (number, type) => {
    if (!isMessage(type)) return false;
    if (number === 1) eachField(reader, endOf(reader), attributesAt(1, reader, resource));
    else if (number === 2) readScopeSpans(reader, spans, count);
    else return false;
    return true;
  });
  return { resource, spans };
}

function readScopeSpans(reader: BinaryReader, spans: OtlpSpan[], count: () => void): void {
  eachField(reader, endOf(reader), (number, type) => {
    if (number !== 2 || !isMessage(type)) return false;
    count();
    spans.push(readSpan(reader));
    return true;
  });
}

function readSpan(reader: BinaryReader): OtlpSpan {
  const attributes = new Map<string, AnyValue>();
  const events: OtlpEvent[] = [];
  const links: OtlpLink[] = [];
  const attribute = attributesAt(9, reader, attributes);
  let [traceId, spanId, parentSpanId, name, statusText] = ["", "", "", "", ""];
  let [startNs, endNs] = [0n, 0n];
  let failed = false;
  eachField(reader, endOf(reader), (number, type) => {
    if (attribute(number, type)) return true;
    if (type === WireType.Bit64 && number === 7) startNs = BigInt(reader.fixed64());
    else if (type === WireType.Bit64 && number === 8) endNs = BigInt(reader.fixed64());
    else if (!isMessage(type)) return false;
    else if (number === 1) traceId = hex(reader);
    else if (number === 2) spanId = hex(reader);
    else if (number === 4) parentSpanId = hex(reader);
    else if (number === 5) name = storableText(reader.string());
    else if (number === 11) events.push(readEvent(reader));
    else if (number === 13) links.push(readLink(reader));
    else if (number === 15) {
      eachField(reader, endOf(reader), (part, partType) => {
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

function readEvent(reader: BinaryReader): OtlpEvent {
  const attributes = new Map<string, AnyValue>();
  const attribute = attributesAt(3, reader, attributes);
  let name = "";
  eachField(reader, endOf(reader), (number, type) => {
    if (attribute(number, type)) return true;
    if (number !== 2 || !isMessage(type)) return false;
    name = storableText(reader.string());
    return true;
  });
  return { name, attributes };
}

function readLink(reader: BinaryReader): OtlpLink {
  const attributes = new Map<string, AnyValue>();
  const attribute = attributesAt(4, reader, attributes);
  let [traceId, spanId] = ["", ""];
  eachField(reader, endOf(reader), (number, type) => {
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
function attributesAt(wanted: number, reader: BinaryReader, attributes: Map<string, AnyValue>, depth = 1): Field {
  return (number, type) => {
    if (number !== wanted || !isMessage(type)) return false;
    let key = "";
    let value = nullValue;
    eachField(reader, endOf(reader), (part, partType) => {
      if (!isMessage(partType)) return false;
      if (part === 1) key = storableText(reader.string());
      else if (part === 2) value = readValue(reader, depth);
      else return false;
      return true;
    });
    attributes.set(key, value);
    return true;
  };
}

function readValue(reader: BinaryReader, depth: number): AnyValue {
  let value = nullValue;
  eachField(reader, endOf(reader), (number, type) => {
    if (number === 1 && isMessage(type)) value = textValue(reader.string());
    else if (number === 2 && type === WireType.Varint) value = booleanValue(reader.bool());
    else if (number === 3 && type === WireType.Varint) value = integerValue(String(reader.int64()));
    else if (number === 4 && type === WireType.Bit64) value = doubleValue(reader.double());
    else if (depth >= VALUE_DEPTH_MAX) return false;
    else if (number === 5 && isMessage(type)) value = readList(reader, depth + 1);
    else if (number === 6 && isMessage(type)) value = mapValue(readMap(reader, depth + 1));
    else if (number === 7 && isMessage(type)) value = bytesValue(reader.bytes());
    else return false;
    return true;
  });
  return value;
}

function readList(reader: BinaryReader, depth: number): AnyValue {
  const values: AnyValue[] = [];
  eachField(reader, endOf(reader), (number, type) => {
    if (number !== 1 || !isMessage(type)) return false;
    values.push(readValue(reader, depth));
    return true;
  });
  return listValue(values);
}

function readMap(reader: BinaryReader, depth: number): Attributes {
  const values = new Map<string, AnyValue>();
  eachField(reader, endOf(reader), attributesAt(1, reader, values, depth));
  return values;
}

function hex(reader: BinaryReader): string {
  const bytes = reader.bytes();
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
}
