import type { AnyValue } from "./any-value.ts";

/** Attributes by their names; of a name that was sent twice, the last value. */
export type Attributes = ReadonlyMap<string, AnyValue>;

/** Something that happened in a span. */
export type OtlpEvent = { readonly name: string; readonly attributes: Attributes };

/** Another span that belongs to a span. Ids in hexadecimal, lower case. */
export type OtlpLink = { readonly traceId: string; readonly spanId: string; readonly attributes: Attributes };

/**
 * A span as OTLP brings it (opentelemetry-proto 1.x, `trace/v1/trace.proto`), with the fields that are read here. Ids in hexadecimal, lower case, of any
 * length: who uses them checks them. Times in nanoseconds since 1970; 0: not known.
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
  /** What its status says about the error. */
  readonly statusText: string;
};

/** The spans of one resource: of a process, mostly. */
export type ResourceSpans = { readonly resource: Attributes; readonly spans: readonly OtlpSpan[] };

/** Says that a request is no `ExportTraceServiceRequest`. The message never quotes the request. */
export class SpansFault extends Error {}

/** Counts spans while they are read. @throws SpansFault beyond `spansMax` */
export function createSpanCounter(spansMax: number): () => void {
  let spans = 0;
  return () => {
    spans += 1;
    if (spans > spansMax) throw new SpansFault(`a request must have at most ${spansMax} spans`);
  };
}
