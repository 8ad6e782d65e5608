/** Attributes by their names; of a name that was sent twice, the last value. */
export type Attributes = ReadonlyMap<string, AnyValue>;

/** Something that happened in a span. */
export type OtlpEvent = { readonly name: string; readonly attributes: Attributes };

/** Another span that belongs to a span. Ids in hexadecimal, lower case. */
export type OtlpLink = { readonly traceId: string; readonly spanId: string; readonly attributes: Attributes };

/**
 * A span as OTLP sends it (opentelemetry-proto 1.x, `trace/v1/trace.proto`), with the fields that are read here. Ids in hexadecimal, lower case, of any
 * length: the caller checks them. Times in nanoseconds since 1970; 0: not known.
 */
export type OtlpSpan = {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty: a root. */
  readonly parentSpanId: string;
  readonly name: string;
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly attributes: Attributes;
  readonly events: readonly OtlpEvent[];
  readonly links: readonly OtlpLink[];
  /** Whether its status is `ERROR`. */
  readonly failed: boolean;
  /** The message of its status about the error. */
  readonly statusText: string;
};

/** The spans of one resource: of a process, mostly. */
export type ResourceSpans = { readonly resource: Attributes; readonly spans: readonly OtlpSpan[] };

/** Says that a request is not an `ExportTraceServiceRequest`. The message never quotes the request. */
export class SpansFault extends Error {}

/** Most fields of a span or a resource, as protobuf has them; an attribute has four. What is kept of a span holds fewer. */
const FIELDS_MAX = 20_000;

/** Counts what a request has while it is read, so that no span takes long to read, nor all of them much memory. */
export type SpanCounter = {
  /** Begins a resource. */
  readonly resource: () => void;
  /** Begins a span. @throws SpansFault beyond `spansMax` */
  readonly span: () => void;
  /** Counts fields of the resource or the span. @throws SpansFault for too many */
  readonly fields: (count: number) => void;
};

/** Begins to count a request. */
export function createSpanCounter(spansMax: number): SpanCounter {
  let spans = 0;
  let fields = 0;
  return {
    resource() {
      fields = 0;
    },
    span() {
      fields = 0;
      spans += 1;
      if (spans > spansMax) throw new SpansFault(`a request must have at most ${spansMax} spans`);
    },
    fields(count) {
      fields += count;
      if (fields > FIELDS_MAX) throw new SpansFault(`a span or a resource must have at most ${FIELDS_MAX} fields`);
    },
  };
}

/** A value of an attribute (`AnyValue` of opentelemetry-proto). Lists, maps and bytes have neither text nor number. */
export type AnyValue = {
  /** The value as JSON: 64-bit integers keep their digits, bytes are base64, numbers that JSON has not are texts ("NaN", "Infinity"). */
  readonly json: string;
  /** The value if it is a text. NUL and lone surrogates are U+FFFD. */
  readonly text?: string;
  /** The value if it is a finite number. */
  readonly number?: number;
};

/** Maximum nesting depth of lists and maps; deeper values become null. */
export const VALUE_DEPTH_MAX = 64;

/** Represents the absence of a value. */
export const nullValue: AnyValue = { json: "null" };

/** Returns a text as a value. */
export function textValue(sent: string): AnyValue {
  const text = storableText(sent);
  return { json: JSON.stringify(text), text };
}

/** Returns a text without NUL and lone surrogates, which no column of text holds. */
export function storableText(sent: string): string {
  const text = sent.isWellFormed() ? sent : sent.toWellFormed();
  return text.includes("\0") ? text.replaceAll("\0", "\u{FFFD}") : text;
}

/** Returns a double as a value. */
export function doubleValue(number: number): AnyValue {
  return Number.isFinite(number) ? { json: JSON.stringify(number), number } : { json: `"${number}"` };
}

/** Returns an integer as a value, by its decimal digits. */
export function integerValue(digits: string): AnyValue {
  return { json: digits, number: Number(digits) };
}

/** Returns a boolean as a value. */
export function booleanValue(value: boolean): AnyValue {
  return { json: value ? "true" : "false" };
}

/** Returns bytes as a value. */
export function bytesValue(bytes: Uint8Array): AnyValue {
  return { json: `"${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64")}"` };
}

/** Returns a list as a value. */
export function listValue(values: readonly AnyValue[]): AnyValue {
  return { json: `[${values.map(({ json }) => json).join(",")}]` };
}

/** Returns a map as a value. */
export function mapValue(values: ReadonlyMap<string, AnyValue>): AnyValue {
  return { json: `{${Array.from(values, ([key, { json }]) => `${JSON.stringify(key)}:${json}`).join(",")}}` };
}
