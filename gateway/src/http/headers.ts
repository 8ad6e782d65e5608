import { basePathOf } from "./base-path.ts";
import { randomUUID } from "node:crypto";
import { badRequest } from "@tidemark/errors";

/**
 * The headers that the gateway reads or writes under a name of the product, in lower case. Where
 * the specification and the SDK call one header by two names, both are listed here.
 */
export const headerNames = {
  requestId: "x-request-id",
  /** Names the run of spans whose resource does not. */
  runId: "x-tidemark-run-id",
  idempotencyKey: "idempotency-key",
  idempotencyReplayed: "idempotency-replayed",
  /** Carries the operator's token; either is accepted. */
  bootstrapToken: ["x-svc-bootstrap-token", "x-instantml-bootstrap-token"],
  retryAfter: "retry-after",
  rateLimitScope: ["x-svc-ratelimit-scope", "x-instantml-ratelimit-scope"],
  rateLimitLimit: "ratelimit-limit",
  rateLimitRemaining: "ratelimit-remaining",
  rateLimitReset: "ratelimit-reset",
  /** With the suffixes `-limit`, `-remaining` and `-reset`: for a month that is used up. */
  monthlyRateLimit: ["x-svc-monthly-ratelimit", "x-instantml-monthly-ratelimit"],
  /** Says whether an export omits rows. */
  exportTruncated: ["x-svc-export-truncated", "x-instantml-export-truncated"],
} as const;

/** On every answer: a browser takes its type from us, and never guesses that what a user stored is a page or a script. */
export const noSniffing = ["x-content-type-options", "nosniff"] as const;

/** Where the installation is reached by https: a browser never tries http for a year (RFC 6797). */
export const strictTransport = ["strict-transport-security", "max-age=31536000"] as const;

/** Keys of the OpenAPI document that say which part of the service answers. */
export const servicePlaneKeys = ["x-svc-service-plane", "x-instantml-service-plane"] as const;

/** The cookie that holds a browser's session. */
export const sessionCookie = "tidemark_session";

/** The cookie that holds what a browser keeps while it signs in elsewhere. */
export const loginCookie = "tidemark_login";

/**
 * Over TLS a browser takes a cookie of this name from this very host only: no neighbor under the same domain can plant one (RFC 6265bis, section
 * 4.1.3.2). Such a cookie is for the whole host, so below a path it has the weaker name.
 */
export function cookieName(name: string, baseUrl: string): string {
  if (!baseUrl.startsWith("https://")) return name;
  return basePathOf(baseUrl) === "" ? `__Host-${name}` : `__Secure-${name}`;
}

/** Names that the session cookie may have. */
export const sessionCookies = ["", "__Host-", "__Secure-"].map((prefix) => `${prefix}${sessionCookie}`);

const requestIdShape = /^[A-Za-z0-9._:-]{1,128}$/;

/** Prefixes of our credentials and of well-known ones: an id that looks like one must not reach logs and answers. */
const secretLooking =
  /^(?:tm_|instantml_|sk_|sk-|pk_|rk_|gh[opsur]_|github_pat_|glpat-|AKIA|ASIA|AIza|xox[a-z]-|npm_|pypi-|hf_|eyJ)/i;

/**
 * Returns the id of a request: the caller's `x-request-id` if it has 1 to 128 characters of
 * `[A-Za-z0-9._:-]` and does not look like a credential, otherwise a new UUID.
 */
export function requestIdOf(request: {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}): string {
  const sent = request.headers[headerNames.requestId];
  if (typeof sent === "string" && requestIdShape.test(sent) && !secretLooking.test(sent)) return sent;
  return randomUUID();
}

/** Returns the media type of a body in lower case and without parameters; empty: none is named. */
export function mediaTypeOf(headers: { readonly "content-type"?: string | undefined }): string {
  return (headers["content-type"] ?? "").split(";", 1)[0]!.trim().toLowerCase();
}

const keyShape = /^[\x21-\x7e]+$/;

/** Most characters of an idempotency key on routes that do not say. */
export const IDEMPOTENCY_KEY_MAX = 255;

/**
 * Reads `Idempotency-Key`: 1 to `max` visible ASCII characters; blank means absent.
 * @throws bad_request for other keys, and for an absent one where it is required
 */
export function readIdempotencyKey(
  header: string | string[] | undefined,
  use: "none" | "optional" | "required",
  max: number = IDEMPOTENCY_KEY_MAX,
): string | undefined {
  if (use === "none") return undefined;
  const key = typeof header === "string" ? header.trim() : "";
  if (key === "") {
    if (use === "required") throw badRequest("the header Idempotency-Key is required", headerNames.idempotencyKey);
    return undefined;
  }
  if (key.length > max || !keyShape.test(key)) {
    throw badRequest(`Idempotency-Key must be 1 to ${max} visible ASCII characters`, headerNames.idempotencyKey);
  }
  return key;
}
