/** The path below which the server is, such as `/tidemark`; empty at the root of its host. The document names it. */
export const basePath: string = typeof document === "undefined" ? "" : (document.documentElement.dataset["base"] ?? "");

/** Returns the address under which the browser finds a path of this server; other addresses stay as they are. */
export function addressOf(path: string, base: string = basePath): string {
  return base === "" || !/^\/(?!\/)/.test(path) || path.startsWith(`${base}/`) ? path : `${base}${path}`;
}

/** Returns the path on this server of the path of an address. */
export function pathOf(pathname: string, base: string = basePath): string {
  if (base === "") return pathname;
  return pathname === base ? "/" : pathname.startsWith(`${base}/`) ? pathname.slice(base.length) : pathname;
}

/** Returns the URL of the server, without a slash at the end, as clients of the API need it. */
export const serverUrl = (): string => `${location.origin}${basePath}`;
