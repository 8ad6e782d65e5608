import { type Attributes, context, SpanKind, SpanStatusCode, trace, TraceFlags } from "@opentelemetry/api";
import { describeError, redactText } from "./redaction.ts";
import { randomBytes } from "node:crypto";

let started = false;

/** Returns true if traces are recorded in this process; hot paths skip spans if they are not. */
export function isTracing(): boolean {
  return started;
}

/**
 * Ends tracing after recorded spans were sent. Takes as long as the collector, at most the exporter's own timeout
 * (10 s).
 */
export type Tracing = { readonly shutdown: () => Promise<void> };

/**
 * Starts the OpenTelemetry SDK if `environment` has `OTEL_EXPORTER_OTLP_ENDPOINT`, else does not load anything.
 * The SDK itself reads the standard `OTEL_*` variables. Only traces are exported: metrics have their own endpoint and
 * logs go to standard output.
 */
export async function startTracing(options: {
  readonly service: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}): Promise<Tracing> {
  if (!options.environment["OTEL_EXPORTER_OTLP_ENDPOINT"]) return { shutdown: () => Promise.resolve() };
  const { startNodeSdk } = await import("@opentelemetry/sdk-node");
  started = true;
  return startNodeSdk({
    resourceAttributes: { "service.name": options.service, "service.namespace": "tidemark" },
    metricReaders: [],
    logRecordProcessors: [],
    // The SDK prints to the console in another form than the log, so only warnings and errors.
    logLevel: "warn",
  });
}

const kinds = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const;

export type SpanOptions = {
  /**
   * The trace of the request or message. Without it, the span belongs to the surrounding one, if any, else it starts a
   * trace.
   */
  readonly parent?: TraceContext | undefined;
  readonly kind?: keyof typeof kinds;
};

/**
 * Runs `fn` inside a span and passes on its result or error; a throw marks the span as failed. `fn` gets the
 * trace to pass on in headers: the new span's, or the parent's (or a new, unrecorded one) if tracing is off.
 * Attributes must not contain user text; credentials in them and in errors are censored.
 */
export async function withSpan<T>(
  name: string,
  attributes: Attributes,
  fn: (trace: TraceContext) => T | Promise<T>,
  options: SpanOptions = {},
): Promise<T> {
  const { parent, kind = "internal" } = options;
  const around = parent === undefined ? context.active() : withParent(parent);
  const span = trace
    .getTracer("tidemark")
    .startSpan(name, { kind: kinds[kind], attributes: censor(attributes) }, around);
  const { traceId, spanId, traceFlags } = span.spanContext();
  const current: TraceContext = trace.isSpanContextValid(span.spanContext())
    ? { traceId, spanId, sampled: (traceFlags & TraceFlags.SAMPLED) !== 0 }
    : newTrace();
  try {
    return await context.with(trace.setSpan(around, span), fn, undefined, current);
  } catch (error) {
    const { type, message, stack } = describeError(error);
    span.recordException({
      name: type,
      message: redactText(message),
      stack: redactText(stack ?? ""),
    });
    span.setStatus({ code: SpanStatusCode.ERROR, message: redactText(message) });
    throw error;
  } finally {
    span.end();
  }
}

function withParent({ traceId, spanId, sampled }: TraceContext): ReturnType<typeof context.active> {
  return trace.setSpanContext(context.active(), {
    traceId,
    spanId,
    traceFlags: sampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    isRemote: true,
  });
}

function censor(attributes: Attributes): Attributes {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [name, typeof value === "string" ? redactText(value) : value]),
  );
}

/** The position of a request in its trace (W3C Trace Context, level 1). */
export type TraceContext = {
  /** 32 lower-case hexadecimal digits, not all zero. */
  readonly traceId: string;
  /** 16 lower-case hexadecimal digits, not all zero. */
  readonly spanId: string;
  /** Whether the caller records the trace. */
  readonly sampled: boolean;
};

/** Name of the header, the same in HTTP, RPC and bus messages. */
const traceparentHeader = "traceparent";

const shape = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/**
 * Reads a `traceparent`; `undefined` if it is missing or breaks the standard, and then a new trace starts. For later
 * versions it reads the known part.
 */
export function parseTraceparent(text: string | undefined): TraceContext | undefined {
  const match = text === undefined ? null : shape.exec(text);
  if (match === null) return undefined;
  const [, version = "", traceId = "", spanId = "", flags = "", rest] = match;
  if (version === "ff" || (version === "00" && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** Writes a `traceparent` of version 00. */
export function formatTraceparent({ traceId, spanId, sampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${sampled ? "01" : "00"}`;
}

/** Starts a trace that is not recorded, so that the log lines of one request share an id in all processes. */
export function newTrace(): TraceContext {
  const bytes = randomBytes(24).toString("hex");
  return { traceId: bytes.slice(0, 32), spanId: bytes.slice(32), sampled: false };
}

/**
 * Reads the trace from the headers of an incoming call or message; names in lower case, as in Node. A header that
 * was sent twice counts as missing.
 */
export function extractTrace(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): TraceContext | undefined {
  const value = headers[traceparentHeader];
  return parseTraceparent(typeof value === "string" ? value : undefined);
}
