import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { cacheDirectory, findExecutable, runCaptured } from "@tidemark/toolcache";

/** A server that split mode needs. */
export type ServerName = "nats-server" | "minio";

export type ServerSource = {
  /** Environment variable that names an executable and comes first. */
  variable: string;
  /** The pinned version of the Go module that is built if no executable is found. */
  goPackage: string;
  goVersion: string;
  /** How long the build takes on two cores, for the person who waits. */
  buildTime: string;
  /** An image that holds the executable (a static program, so it runs outside the container). */
  image: string;
  imagePath: string;
  /** Whether the text that `--version` prints names a usable version. */
  accepts: (versionText: string) => boolean;
  /** What `accepts` requires, in words. */
  needs: string;
};

const natsMin = [2, 12] as const;

export const serverSources: Readonly<Record<ServerName, ServerSource>> = {
  "nats-server": {
    variable: "TIDEMARK_NATS_SERVER",
    goPackage: "github.com/nats-io/nats-server/v2",
    goVersion: "v2.15.2",
    buildTime: "about half a minute",
    image: "nats:2.15.2",
    imagePath: "/nats-server",
    // Debian's 2.9 refuses sync_interval: always, without which an acknowledged message may be lost.
    accepts: (text) => isAtLeast(/v?(\d+)\.(\d+)/.exec(text), natsMin),
    needs: `version ${natsMin.join(".")} or newer`,
  },
  minio: {
    variable: "TIDEMARK_MINIO",
    goPackage: "github.com/minio/minio",
    // MinIO has no releases as a Go module; this is the commit of its last release.
    goVersion: "v0.0.0-20260212201848-7aac2a2c5b7c",
    buildTime: "about three minutes",
    image: "minio/minio:RELEASE.2025-09-07T16-13-09Z",
    imagePath: "/usr/bin/minio",
    accepts: (text) => text.startsWith("minio version "),
    needs: "a MinIO server",
  },
};

function isAtLeast(match: RegExpExecArray | null, [major, minor]: readonly [number, number]): boolean {
  const [a, b] = [Number(match?.[1]), Number(match?.[2])];
  return a > major || (a === major && b >= minor);
}

/** The path of a server, or one sentence that says why there is none and what was tried. */
export type ObtainedServer = { path: string } | { missing: string };

export type FindOptions = {
  /** Default: this process's. */
  env?: NodeJS.ProcessEnv | undefined;
  /** Default: the shared cache folder of the environment. */
  cacheDir?: string | undefined;
};

/**
 * Looks for a server that split mode needs, in this order: the environment variable (TIDEMARK_NATS_SERVER, TIDEMARK_MINIO),
 * PATH, the shared cache. Fetches and builds nothing. If the variable names an unusable program, nothing else is tried.
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

/** Returns where the shared cache keeps the pinned version of a server, even if it is not there. */
export function cachedServer(name: ServerName, { env = process.env, cacheDir }: FindOptions): string {
  const folder = cacheDir ?? cacheDirectory({ env, platform: process.platform, home: homedir(), cwd: process.cwd() });
  return join(folder, "servers", `${name}@${serverSources[name].goVersion}`, name);
}

/** Returns why an executable is not usable, or undefined if it is. */
export async function serverFault(executable: string, { accepts, needs }: ServerSource): Promise<string | undefined> {
  const { code, output } = await runCaptured(executable, ["--version"]);
  if (code !== 0) return `it does not run (${output.trim().split("\n")[0] || `code ${code}`})`;
  return accepts(output) ? undefined : `it is not ${needs} (${output.trim().split("\n")[0]})`;
}
