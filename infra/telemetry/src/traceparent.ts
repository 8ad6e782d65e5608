import { randomBytes } from "node:crypto";

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
