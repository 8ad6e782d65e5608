export { createLog } from "./log.ts";
export type { Log, LogFields, LogLevel, LogOptions } from "./log.ts";
export { createMetrics } from "./metrics.ts";
export type { Metrics, PoolState } from "./metrics.ts";
export { extractTrace, formatTraceparent, parseTraceparent, isTracing, startTracing, withSpan } from "./tracing.ts";
export type { TraceContext, SpanOptions, Tracing } from "./tracing.ts";
