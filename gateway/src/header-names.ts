/**
 * Every header that the gateway reads or writes under a name of the product, in lower case. Where
 * the specification and the SDK know one header by two names, both are kept here, side by side.
 */
export const headerNames = {
  requestId: "x-request-id",
  idempotencyKey: "idempotency-key",
  idempotencyReplayed: "idempotency-replayed",
  /** Carries the operator's token; either will do. */
  bootstrapToken: ["x-svc-bootstrap-token", "x-instantml-bootstrap-token"],
  retryAfter: "retry-after",
  rateLimitScope: ["x-svc-ratelimit-scope", "x-instantml-ratelimit-scope"],
  rateLimitLimit: "ratelimit-limit",
  rateLimitRemaining: "ratelimit-remaining",
  rateLimitReset: "ratelimit-reset",
} as const;

/** Keys of the OpenAPI document that say which part of the service answers. */
export const servicePlaneKeys = ["x-svc-service-plane", "x-instantml-service-plane"] as const;

/** The cookie that holds a browser's session. */
export const sessionCookie = "tidemark_session";
