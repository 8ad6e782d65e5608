import { randomUUID, timingSafeEqual } from "node:crypto";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { base64Decode, base64Encode } from "@bufbuild/protobuf/wire";
import { LRUCache } from "lru-cache";
import { AppError } from "@tidemark/errors";
import { IdentitySchema, type Identity } from "@tidemark/proto/common/v1/common";
import type { IncomingHttpHeaders } from "node:http";

/** The context of a request in every process that it passes. */
export type Call = {
  /** The `x-request-id` of the answer. */
  readonly requestId: string;
  /** The caller; undefined on routes that need no credentials and for calls a process makes for itself. */
  readonly identity: Identity | undefined;
  /** When the caller stops waiting, in milliseconds since the epoch. */
  readonly deadlineMs: number;
  /** W3C `traceparent` of the caller's span. */
  readonly traceparent: string | undefined;
  /** Aborts when the caller leaves without waiting for the answer; absent where that is not known. */
  readonly left?: AbortSignal | undefined;
  /**
   * Called with the bytes of another process's answer before they are read, and with a negative number when it has been decoded. An error that it throws
   * ends the call before any read. Absent where bytes are not counted.
   */
  readonly hold?: ((bytes: number) => void) | undefined;
};

/** Milliseconds that a call may take unless its caller names a time. */
const callTimeoutMs = 10_000;

/** Starts a call: the gateway for a request, a process for its own work. */
export function createCall(options: Partial<Omit<Call, "deadlineMs">> & { timeoutMs?: number } = {}): Call {
  return {
    requestId: options.requestId ?? randomUUID(),
    identity: options.identity,
    deadlineMs: Date.now() + (options.timeoutMs ?? callTimeoutMs),
    traceparent: options.traceparent,
    left: options.left,
    hold: options.hold,
  };
}

// In lower case, as Node gives them.
const headerNames = {
  requestId: "x-request-id",
  identity: "tidemark-identity-bin",
  timeout: "connect-timeout-ms",
  traceparent: "traceparent",
} as const;

const TIMEOUT_MS_MAX = 60_000;

/** The most milliseconds that a stream may take, and the default unless its caller names a time. */
export const STREAM_MS_MAX = 24 * 3600 * 1000;

// One identity object serves many requests of a key, so its encoding is kept.
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

/** Returns the headers that carry a call to another process; `token` proves that we are one of its peers. */
export function callToHeaders(call: Call, token: string | undefined): Record<string, string> {
  const headers: Record<string, string> = {
    [headerNames.requestId]: call.requestId,
    [headerNames.timeout]: String(Math.max(1, Math.ceil(call.deadlineMs - Date.now()))),
  };
  if (call.identity !== undefined) headers[headerNames.identity] = encodeIdentity(call.identity);
  if (call.traceparent !== undefined) headers[headerNames.traceparent] = call.traceparent;
  if (token !== undefined) headers[TOKEN_HEADER] = token;
  return headers;
}

/**
 * Reads a call from the headers of an incoming RPC; missing ones get their defaults. The headers
 * say who the user is, so the servers read them only from a peer (`isPeer`).
 * @throws bad_request for a `timeoutMs` above the limit of such a call
 */
export function callFromHeaders(
  get: (name: string) => string | undefined,
  options: { timeoutMs?: number | undefined; isStream?: boolean; left?: AbortSignal } = {},
): Call {
  const { timeoutMs, isStream = false, left } = options;
  const usual = isStream ? STREAM_MS_MAX : callTimeoutMs;
  const max = isStream ? STREAM_MS_MAX : TIMEOUT_MS_MAX;
  if (timeoutMs !== undefined && timeoutMs > max) {
    throw new AppError("bad_request", `the deadline may be at most ${max / 1000} s away`);
  }
  const asked = timeoutMs ?? (Number(get(headerNames.timeout) ?? usual) || usual);
  const identity = get(headerNames.identity);
  return {
    requestId: get(headerNames.requestId) ?? "",
    identity: identity === undefined || identity === "" ? undefined : decodeIdentity(identity),
    deadlineMs: Date.now() + Math.min(Math.max(1, asked), max),
    traceparent: get(headerNames.traceparent),
    left,
  };
}

/** Header of an answer that says: no handler has seen this request, send it again elsewhere. */
export const refusedHeader = "tidemark-refused";

/** Header in which a process proves that it belongs to the installation. In lower case, as Node gives it. */
const TOKEN_HEADER = "tidemark-internal-token";

/** Returns whether the headers of a request present `token`, in a time that does not reveal how much of it is right. Without a token all do. */
export function isPeer(headers: IncomingHttpHeaders, token: string | undefined): boolean {
  if (token === undefined) return true;
  const given = headers[TOKEN_HEADER];
  const expected = Buffer.from(token);
  const actual = Buffer.from(typeof given === "string" ? given : "");
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}

/** Returns the error of a request without the token. Both servers answer with it before they read a byte of the body. */
export function notAPeer(): AppError {
  return new AppError("unauthenticated", "this port is for the parts of the service only");
}
