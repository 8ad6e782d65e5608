import { options } from "preact";

/** The path below which the server is, such as `/tidemark`; empty at the root of its host. The document names it. */
const basePath: string = typeof document === "undefined" ? "" : (document.documentElement.dataset["base"] ?? "");

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

/** Lets links and media of all components find the server: their `href` and `src` are paths on it. */
export function startBasePath(): void {
  if (basePath === "") return;
  const next = options.vnode?.bind(options);
  options.vnode = (vnode) => {
    const props = vnode.props as Record<string, unknown>;
    if (typeof vnode.type === "string") {
      for (const name of ["href", "src"]) {
        const value = props[name];
        if (typeof value === "string") props[name] = addressOf(value);
      }
    }
    next?.(vnode);
  };
}
