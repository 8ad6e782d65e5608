import { isLoopback } from "./origin.ts";

const hostShape = /^[A-Za-z0-9.-]+(?::\d{1,5})?$|^\[[0-9A-Fa-f:.]+\](?::\d{1,5})?$/;

/** Tells whether a `Host` header is a name or address with an optional port, fit to be put into a URL. */
export function isHost(host: string): boolean {
  return host.length <= 255 && hostShape.test(host);
}

/**
 * Where the client reached us, without a trailing slash: the configured URL, else what the request
 * says. Behind a proxy that is not trusted, the latter is the proxy's view.
 */
export function baseUrlOf(
  configured: string | undefined,
  request: { readonly protocol: string; readonly host: string },
): string {
  if (configured !== undefined) return configured.replace(/\/+$/, "");
  return `${request.protocol}://${isHost(request.host) ? request.host : "localhost"}`;
}

/** Session cookies are `Secure` unless a browser on this very machine came without TLS. */
export function cookieSecure(baseUrl: string): boolean {
  return baseUrl.startsWith("https://") || !isLoopback(baseUrl);
}
