import { headerNames } from "../header-names.ts";

const requestHeaders = [
  "accept",
  "authorization",
  "content-encoding",
  "content-type",
  headerNames.idempotencyKey,
  "if-none-match",
  ...headerNames.bootstrapToken,
  headerNames.requestId,
].join(", ");

const exposedHeaders = [
  "etag",
  headerNames.requestId,
  headerNames.idempotencyReplayed,
  headerNames.retryAfter,
  ...headerNames.rateLimitScope,
  headerNames.rateLimitLimit,
  headerNames.rateLimitRemaining,
  headerNames.rateLimitReset,
].join(", ");

/** Headers of an answer to a page from an allowed origin (Fetch standard, CORS protocol). */
export function corsHeaders(origin: string): Record<string, string> {
  return {
    "access-control-allow-origin": origin,
    "access-control-allow-credentials": "true",
    "access-control-expose-headers": exposedHeaders,
    vary: "Origin",
  };
}

/** Headers of the answer to a preflight request from an allowed origin. */
export function preflightHeaders(origin: string, methods: readonly string[]): Record<string, string> {
  return {
    "access-control-allow-origin": origin,
    "access-control-allow-credentials": "true",
    "access-control-allow-methods": methods.join(", "),
    "access-control-allow-headers": requestHeaders,
    "access-control-max-age": "600",
    vary: "Origin",
  };
}
