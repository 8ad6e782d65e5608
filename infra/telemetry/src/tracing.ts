import { type Attributes, context, SpanKind, SpanStatusCode, trace, TraceFlags } from "@opentelemetry/api";
import { describeError } from "./describe-error.ts";
import { redactText } from "./redaction.ts";
import { newTrace, type TraceContext } from "./traceparent.ts";

let started = false;

/** True once traces are recorded in this process; hot paths leave spans out while they are not. */
export function isTracing(): boolean {
  return started;
}

/**
 * Ends tracing: what is recorded is sent first. Takes as long as the collector does, at most the exporter's own
 * timeout (10 s).
 */
export type Tracing = { readonly shutdown: () => Promise<void> };

/**
 * Starts the OpenTelemetry SDK if `environment` has `OTEL_EXPORTER_OTLP_ENDPOINT`, else does nothing and loads nothing.
 * The SDK reads the standard `OTEL_*` variables by itself; only traces are exported, metrics have an endpoint of their
 * own and logs go to standard output.
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
    // The SDK prints to the console, in another form than our log: only what is wrong.
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
   * The trace that came with the request or message. Without it the span belongs to the one around it, if any, else
   * it begins a trace.
   */
  readonly parent?: TraceContext | undefined;
  readonly kind?: keyof typeof kinds;
};

/**
 * Runs `fn` inside a span and passes on what it returns or throws; a throw marks the span as failed. `fn` gets the
 * trace to hand on in headers: the new span's, or the parent's (or a new, unrecorded one) when tracing is off.
 * Attributes hold no user text; credentials in them and in errors are censored.
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
