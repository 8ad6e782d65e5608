/** Returns the path below which clients reach the server, such as `/tidemark`; empty at the root of its host. */
export function basePathOf(baseUrl: string): string {
  const slash = baseUrl.indexOf("/", "https://".length);
  return slash === -1 ? "" : baseUrl.slice(slash).replace(/\/+$/, "");
}

/** Returns the target of a request without the path of the server: a proxy in front may pass that on or remove it. */
export function withoutBasePath(target: string, basePath: string): string {
  if (basePath === "" || !target.startsWith(basePath)) return target;
  const rest = target.slice(basePath.length);
  if (rest.startsWith("/")) return rest;
  return rest === "" || rest.startsWith("?") ? `/${rest}` : target;
}

/** Returns a path on this server as clients reach it. */
export function withBasePath(path: string, basePath: string): string {
  return withoutBasePath(path, basePath) === path ? `${basePath}${path}` : path;
}

/** Returns what is wrong with the path of the public URL: it must be plain, and none of the server's `own` paths may begin with it. */
export function basePathFaults(publicUrl: string | undefined, own: readonly string[]): string[] {
  const basePath = basePathOf(publicUrl ?? "");
  const [, first = ""] = basePath.split("/");
  if (!/^(?:\/[A-Za-z0-9._~-]+)*$/.test(basePath))
    return ["TIDEMARK_PUBLIC_URL must have a path of letters, digits and . _ ~ - only, and no query"];
  const isTaken = first !== "" && own.some((path) => path.split("/")[1] === first);
  return isTaken ? [`TIDEMARK_PUBLIC_URL must not begin its path with /${first}, which is a route`] : [];
}
