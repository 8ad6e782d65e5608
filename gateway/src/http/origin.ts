import type { IncomingMessage } from "node:http";
import { isLoopbackAddress } from "@tidemark/host";
import type { FastifyRequest } from "fastify";
import { AppError } from "@tidemark/errors";
import { headerNames } from "./headers.ts";

const loopbackHosts = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Returns whether pages of an origin may use this server. */
export type OriginRule = (origin: string, ownBaseUrl: string) => boolean;

/**
 * Allows the configured origins, the server's own scheme and host, and every loopback origin
 * (development servers). Refuses `null`, which sandboxed pages send.
 */
export function createOriginRule(allowedOrigins: readonly string[]): OriginRule {
  const allowed = new Set(allowedOrigins.map((origin) => originOf(origin)));
  return (origin, ownBaseUrl) => {
    const asked = originOf(origin);
    if (asked === undefined || asked !== origin.toLowerCase()) return false;
    return allowed.has(asked) || asked === originOf(ownBaseUrl) || isLoopback(asked);
  };
}

/** Returns true for `localhost`, `127.0.0.1` and `[::1]` with any scheme and port. */
export function isLoopback(url: string): boolean {
  return URL.canParse(url) && loopbackHosts.has(new URL(url).hostname);
}

/**
 * Returns whether a request comes from this machine itself: over a loopback address, to a loopback name, because another site may have a name that points
 * here, and through no proxy, which would forward requests of others.
 */
export function isFromThisMachine({ socket, headers }: Pick<IncomingMessage, "socket" | "headers">): boolean {
  const isForwarded = Object.keys(headers).some((name) => name === "forwarded" || name.startsWith("x-forwarded-"));
  return !isForwarded && isLoopbackAddress(socket.remoteAddress ?? "") && isLoopback(`http://${headers.host ?? ""}`);
}

function originOf(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { origin } = new URL(url);
  return origin === "null" ? undefined : origin;
}

const hostShape = /^[A-Za-z0-9.-]+(?::\d{1,5})?$|^\[[0-9A-Fa-f:.]+\](?::\d{1,5})?$/;

/** Returns whether a `Host` header is a name or address with an optional port, fit to be put into a URL. */
export function isHost(host: string): boolean {
  return host.length <= 255 && hostShape.test(host);
}

/**
 * Returns the URL under which the client reached us, without a trailing slash: the configured one, otherwise the one
 * of the request. Behind a proxy that is not trusted, the latter is the proxy's view.
 */
export function baseUrlOf(
  configured: string | undefined,
  request: { readonly protocol: string; readonly host: string },
): string {
  if (configured !== undefined) return configured.replace(/\/+$/, "");
  return `${request.protocol}://${isHost(request.host) ? request.host : "localhost"}`;
}

/** Returns whether clients reach us over TLS. */
function isTls(baseUrl: string): boolean {
  return baseUrl.startsWith("https://");
}

/** Returns whether session cookies are `Secure`: always, except over plain HTTP on this machine. */
export function cookieSecure(baseUrl: string): boolean {
  return isTls(baseUrl) || !isLoopback(baseUrl);
}

const requestHeaders = [
  "accept",
  "authorization",
  "content-encoding",
  "content-type",
  headerNames.idempotencyKey,
  "if-none-match",
  "range",
  ...headerNames.bootstrapToken,
  headerNames.requestId,
  headerNames.runId,
].join(", ");

const exposedHeaders = [
  "accept-ranges",
  "content-disposition",
  "content-range",
  "etag",
  headerNames.requestId,
  headerNames.idempotencyReplayed,
  headerNames.retryAfter,
  ...headerNames.exportTruncated,
  ...headerNames.rateLimitScope,
  headerNames.rateLimitLimit,
  headerNames.rateLimitRemaining,
  headerNames.rateLimitReset,
].join(", ");

/** Returns the headers of an answer to a page from an allowed origin (Fetch standard, CORS protocol). */
export function corsHeaders(origin: string): Record<string, string> {
  return {
    "access-control-allow-origin": origin,
    "access-control-allow-credentials": "true",
    "access-control-expose-headers": exposedHeaders,
    vary: "Origin",
  };
}

/** Returns the headers of the answer to a preflight request from an allowed origin. */
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

/**
 * Guards requests with effects, which another site could make a browser send: they must name an
 * allowed `Origin` and not originate from another site. Reads need neither.
 * @throws forbidden
 */
export function checkOrigin(
  route: { readonly method: string },
  { isAllowedOrigin }: { readonly isAllowedOrigin: OriginRule },
  { headers }: Pick<FastifyRequest, "headers">,
  baseUrl: string,
): void {
  if (route.method === "GET") return;
  const { origin } = headers;
  if (origin === undefined) throw new AppError("forbidden", "browser sessions must send an Origin header");
  if (!isAllowedOrigin(origin, baseUrl) || headers["sec-fetch-site"] === "cross-site") {
    throw new AppError("forbidden", "this Origin may not use browser sessions");
  }
}
