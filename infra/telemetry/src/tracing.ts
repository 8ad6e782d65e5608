import { type Attributes, context, SpanKind, SpanStatusCode, trace, TraceFlags } from "@opentelemetry/api";
import { describeError, redactText } from "./redaction.ts";
import { newTrace, type TraceContext } from "./traceparent.ts";

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
