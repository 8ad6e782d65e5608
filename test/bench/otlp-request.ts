/*
 * An OTLP request in Protobuf, written by hand: ExportTraceServiceRequest.resource_spans = 1, ResourceSpans.scope_spans = 2, ScopeSpans.spans = 2, and
 * of a Span trace_id = 1, span_id = 2, parent_span_id = 4, name = 5, start and end in nanoseconds = 7 and 8, attributes = 9.
 */

/** A span to export; ids in hexadecimal digits. */
export type ExportedSpan = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string | undefined;
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, string>>;
};

const BYTES = 2;
const FIXED64 = 1;

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  return [...bytes, rest];
}

function field(number: number, bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([(number << 3) | BYTES, ...varint(bytes.length)]), bytes]);
}

function nanos(number: number, ms: number): Buffer {
  const bytes = Buffer.alloc(9);
  bytes[0] = (number << 3) | FIXED64;
  bytes.writeBigUInt64LE(BigInt(ms) * 1_000_000n, 1);
  return bytes;
}

function spanBytes({ traceId, spanId, parentSpanId, name, startMs, endMs, attributes }: ExportedSpan): Buffer {
  return Buffer.concat([
    field(1, Buffer.from(traceId, "hex")),
    field(2, Buffer.from(spanId, "hex")),
    ...(parentSpanId === undefined ? [] : [field(4, Buffer.from(parentSpanId, "hex"))]),
    field(5, Buffer.from(name)),
    nanos(7, startMs),
    nanos(8, endMs),
    ...Object.entries(attributes).map(([key, value]) =>
      field(9, Buffer.concat([field(1, Buffer.from(key)), field(2, field(1, Buffer.from(value)))])),
    ),
  ]);
}

/** Returns the body of an OTLP request with these spans. */
export function otlpRequest(spans: readonly ExportedSpan[]): Buffer {
  return field(1, field(2, Buffer.concat(spans.map((span) => field(2, spanBytes(span))))));
}
