import { randomUUID, timingSafeEqual } from "node:crypto";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { base64Decode, base64Encode } from "@bufbuild/protobuf/wire";
import { LRUCache } from "lru-cache";
import { AppError } from "@tidemark/errors";
import { IdentitySchema, type Identity } from "@tidemark/proto/common/v1/common";
import { deadlineExceeded } from "./error-wire.ts";

/** The context of a request, which is passed on to every process that works on it. */
export type Call = {
  /** The `x-request-id` of the answer; it is in every log line. */
  readonly requestId: string;
  /** The caller; undefined on routes without credentials and for calls that a process makes for its own work. */
  readonly identity: Identity | undefined;
  /** When the caller stops waiting, in milliseconds since the epoch. */
  readonly deadlineMs: number;
  /** W3C `traceparent` of the caller's span. */
  readonly traceparent: string | undefined;
};

/** Milliseconds that a call may take by default. */
const callTimeoutMs = 10_000;

/** Creates a call, for a request in the gateway or for a process's own work. */
export function createCall(options: Partial<Omit<Call, "deadlineMs">> & { timeoutMs?: number } = {}): Call {
  return {
    requestId: options.requestId ?? randomUUID(),
    identity: options.identity,
    deadlineMs: Date.now() + (options.timeoutMs ?? callTimeoutMs),
    traceparent: options.traceparent,
  };
}

// In lower case.
const headerNames = {
  requestId: "x-request-id",
  identity: "tidemark-identity-bin",
  timeout: "connect-timeout-ms",
  traceparent: "traceparent",
  token: "tidemark-internal-token",
} as const;

const TIMEOUT_MS_MAX = 60_000;
// One identity object serves many requests of a key, so its encoding is worth keeping.
const encoded = new WeakMap<Identity, string>();
const decoded = new LRUCache<string, Identity>({ max: 1000 });

function encodeIdentity(identity: Identity): string {
  let text = encoded.get(identity);
  if (text === undefined) {
    text = base64Encode(toBinary(IdentitySchema, identity), "std_raw");
    encoded.set(identity, text);
  }
  return text;
}

function decodeIdentity(text: string): Identity {
  let identity = decoded.get(text);
  if (identity === undefined) {
    identity = fromBinary(IdentitySchema, base64Decode(text));
    decoded.set(text, identity);
  }
  return identity;
}

/** Returns the headers that carry a call to another process; `token` proves that this process is one of its peers. */
export function callToHeaders(call: Call, token: string | undefined): Record<string, string> {
  const headers: Record<string, string> = {
    [headerNames.requestId]: call.requestId,
    [headerNames.timeout]: String(Math.max(1, Math.ceil(call.deadlineMs - Date.now()))),
  };
  if (call.identity !== undefined) headers[headerNames.identity] = encodeIdentity(call.identity);
  if (call.traceparent !== undefined) headers[headerNames.traceparent] = call.traceparent;
  if (token !== undefined) headers[headerNames.token] = token;
  return headers;
}

function isPeer(given: string | undefined, token: string): boolean {
  const expected = Buffer.from(token);
  const actual = Buffer.from(given ?? "");
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}

/**
 * Reads a call from the headers of an incoming RPC; missing headers have defaults. The headers name
 * the user, so if a token is configured, only peers that send it are trusted.
 * @throws unauthenticated
 */
export function callFromHeaders(
  get: (name: string) => string | undefined,
  options: { token?: string | undefined; timeoutMs?: number | undefined } = {},
): Call {
  const { token, timeoutMs } = options;
  if (token !== undefined && !isPeer(get(headerNames.token), token)) {
    throw new AppError("unauthenticated", "this port is for the parts of the service only");
  }
  const asked = timeoutMs ?? (Number(get(headerNames.timeout) ?? callTimeoutMs) || callTimeoutMs);
  const identity = get(headerNames.identity);
  return {
    requestId: get(headerNames.requestId) ?? "",
    identity: identity === undefined || identity === "" ? undefined : decodeIdentity(identity),
    deadlineMs: Date.now() + Math.min(Math.max(1, asked), TIMEOUT_MS_MAX),
    traceparent: get(headerNames.traceparent),
  };
}

/** Header of an answer to a request that no handler has seen: it may be sent again elsewhere. */
export const refusedHeader = "tidemark-refused";

/** Called when a call ends, for metrics and traces. */
export type CallObserver = (facts: {
  service: string;
  method: string;
  side: "client" | "server";
  seconds: number;
  error: unknown;
}) => void;

/** Runs `work` and waits for it at most until the call's deadline. @throws deadline_exceeded */
export async function withinDeadline<T>(call: Call, work: () => Promise<T>): Promise<T> {
  const left = call.deadlineMs - Date.now();
  if (left <= 0) throw deadlineExceeded();
  let timer: NodeJS.Timeout | undefined;
  try {
    return await Promise.race([
      work(),
      new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(deadlineExceeded()), left);
      }),
    ]);
  } finally {
    clearTimeout(timer);
  }
}

/** Runs `work` and tells the observer how it ended. */
export async function observed<T>(
  observer: CallObserver | undefined,
  facts: { service: string; method: string; side: "client" | "server" },
  work: () => Promise<T>,
): Promise<T> {
  if (observer === undefined) return work();
  const started = performance.now();
  let error: unknown;
  try {
    return await work();
  } catch (thrown) {
    error = thrown;
    throw thrown;
  } finally {
    observer({ ...facts, seconds: (performance.now() - started) / 1000, error });
  }
}
