const loopbackHosts = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Who may use this server from a browser. */
export type OriginRule = (origin: string, ownBaseUrl: string) => boolean;

/**
 * Browsers may come from the configured origins, from the server's own scheme and host, and from any
 * loopback origin (development servers). `null`, which sandboxed pages send, is nobody's origin.
 */
export function createOriginRule(allowedOrigins: readonly string[]): OriginRule {
  const allowed = new Set(allowedOrigins.map((origin) => originOf(origin)));
  return (origin, ownBaseUrl) => {
    const asked = originOf(origin);
    if (asked === undefined || asked !== origin.toLowerCase()) return false;
    return allowed.has(asked) || asked === originOf(ownBaseUrl) || isLoopback(asked);
  };
}

/** True for `localhost`, `127.0.0.1` and `[::1]` with any scheme and port. */
export function isLoopback(url: string): boolean {
  return URL.canParse(url) && loopbackHosts.has(new URL(url).hostname);
}

function originOf(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { origin } = new URL(url);
  return origin === "null" ? undefined : origin;
}
