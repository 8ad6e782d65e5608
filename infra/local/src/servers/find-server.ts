import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { cacheDirectory, findExecutable, runCaptured } from "@tidemark/toolcache";
import { type ServerName, type ServerSource, serverSources } from "./server-sources.ts";

/** Where a server is, or one sentence that says why there is none and what was tried. */
export type ObtainedServer = { path: string } | { missing: string };

export type FindOptions = {
  /** Default: this process's. */
  env?: NodeJS.ProcessEnv | undefined;
  /** Default: the shared cache folder that the environment names. */
  cacheDir?: string | undefined;
};

/**
 * Looks for a server that split mode needs, in this order: the environment variable (TIDEMARK_NATS_SERVER, TIDEMARK_MINIO),
 * PATH, the shared cache. Fetches and builds nothing. A variable that names something unusable is not passed over.
 */
export async function findServer(name: ServerName, options: FindOptions = {}): Promise<ObtainedServer> {
  const { env = process.env } = options;
  const source = serverSources[name];
  const named = env[source.variable];
  if (named) {
    const fault = await serverFault(named, source);
    return fault === undefined ? { path: named } : { missing: `${source.variable} names ${named}, but ${fault}` };
  }
  const onPath = findExecutable(name, env["PATH"]);
  const fault = onPath === undefined ? "PATH has none" : await serverFault(onPath, source);
  if (onPath !== undefined && fault === undefined) return { path: onPath };
  const cached = cachedServer(name, options);
  if (existsSync(cached)) return { path: cached };
  const path = onPath === undefined ? fault : `PATH has ${onPath}, but ${fault}`;
  return { missing: `${name} is missing: ${source.variable} is not set; ${path}; the cache folder has none` };
}

/** Where the shared cache keeps the pinned version of a server, whether it is there or not. */
export function cachedServer(name: ServerName, { env = process.env, cacheDir }: FindOptions): string {
  const folder = cacheDir ?? cacheDirectory({ env, platform: process.platform, home: homedir(), cwd: process.cwd() });
  return join(folder, "servers", `${name}@${serverSources[name].goVersion}`, name);
}

/** Why an executable will not do, or undefined when it will. */
export async function serverFault(executable: string, { accepts, needs }: ServerSource): Promise<string | undefined> {
  const { code, output } = await runCaptured(executable, ["--version"]);
  if (code !== 0) return `it does not run (${output.trim().split("\n")[0] || `code ${code}`})`;
  return accepts(output) ? undefined : `it is not ${needs} (${output.trim().split("\n")[0]})`;
}
