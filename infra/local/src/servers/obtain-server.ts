import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { explainFailure, findExecutable, isStartError, runCaptured, startError, withLock } from "@tidemark/toolcache";
import type { Log } from "../start-child.ts";
import {
  cachedServer,
  findServer,
  serverFault,
  serverSources,
  type FindOptions,
  type ObtainedServer,
  type ServerName,
  type ServerSource,
} from "./find-server.ts";

export type ObtainOptions = FindOptions & {
  /** Progress: one line when a step that takes time starts, and a line from time to time while it runs. */
  log: Log;
  signal?: AbortSignal | undefined;
};

/**
 * Obtains a server that split mode needs: where findServer finds it, else by building the pinned version with Go, else from
 * a container image if a Docker engine answers. Stores it in the shared cache; processes that ask simultaneously build it
 * once. Does not throw if no server is available.
 */
export async function obtainServer(name: ServerName, options: ObtainOptions): Promise<ObtainedServer> {
  const found = await findServer(name, options);
  const { env = process.env } = options;
  if ("path" in found || env[serverSources[name].variable]) return found;
  const cached = cachedServer(name, options);
  const tried = [found.missing];
  for (const make of [buildWithGo, copyFromImage]) {
    const failure = await intoCache(cached, name, options, make);
    if (failure === undefined) return { path: cached };
    tried.push(failure);
  }
  return { missing: tried.join("; ") };
}

/** @returns why it did not work, or undefined if `cached` exists now */
async function intoCache(
  cached: string,
  name: ServerName,
  { env = process.env, log, signal }: ObtainOptions,
  make: MakeServer,
): Promise<string | undefined> {
  const folder = dirname(cached);
  const source = serverSources[name];
  const makeStaged = async (): Promise<string | undefined> => {
    if (existsSync(cached)) return undefined;
    const staged = await mkdtemp(`${folder}.partial-`);
    try {
      await chmod(staged, 0o755);
      await make(name, source, { staged, env, log, signal });
      const fault = await serverFault(join(staged, name), source);
      if (fault !== undefined) return fault;
      await rename(staged, folder);
      return undefined;
    } finally {
      await rm(staged, { recursive: true, force: true });
    }
  };
  try {
    await mkdir(dirname(folder), { recursive: true });
    const onWait = (): void => log(`Waiting for another Tidemark that is making ${name}`);
    return await withLock(`${folder}.lock`, makeStaged, { onWait, ...(signal && { signal }) });
  } catch (error) {
    if (isStartError(error)) return error.message;
    const cause = explainFailure(String(error));
    if (cause === undefined) throw error;
    return `${dirname(folder)} cannot be written: ${cause}`;
  }
}

export type Workshop = {
  /** Folder for the executable, which has the server's name. */
  staged: string;
  env: NodeJS.ProcessEnv;
  log: Log;
  signal: AbortSignal | undefined;
};

/** One way to make a server's executable. Throws StartError with the reason, as a part of a sentence, if it cannot. */
export type MakeServer = (name: ServerName, source: ServerSource, workshop: Workshop) => Promise<void>;

/** Builds the pinned version. Go's module proxy provides the modules, and its checksum database verifies them. */
const buildWithGo: MakeServer = async (name, source, { staged, env, log, signal }) => {
  const go = findExecutable("go", [env["PATH"], "/usr/local/go/bin"].filter(Boolean).join(delimiter));
  if (go === undefined) throw startError("Go is not installed");
  log(`Building ${name} ${source.goVersion} with Go (once, ${source.buildTime})`);
  const { GOOS: _os, GOARCH: _arch, ...inherited } = env;
  const { code, output } = await runCaptured(
    go,
    ["install", "-trimpath", "-ldflags", "-s -w", `${source.goPackage}@${source.goVersion}`],
    {
      cwd: staged,
      env: { ...inherited, GOBIN: staged, GOFLAGS: "", CGO_ENABLED: "0" },
      ...(signal && { signal }),
      stillRunningMs: 15_000,
      onStillRunning: (seconds) => log(`Still building ${name} (${seconds} s)`),
    },
  );
  if (code === 0) return;
  const fault = output.split("\n").findLast((line) => line.trim() !== "" && !line.startsWith("go: downloading"));
  throw startError(`building it with Go failed: ${explainFailure(output) ?? fault ?? `code ${code}`}`);
};

/** Copies the executable from the server's own container image. Needs a running engine; runs no container. */
const copyFromImage: MakeServer = async (name, source, { staged, env, log, signal }) => {
  if (process.platform !== "linux") throw startError("a container image would only hold a program for Linux");
  const docker = findExecutable("docker", env["PATH"]);
  if (docker === undefined) throw startError("Docker is not installed");
  const run = (args: string[], limitMs: number): ReturnType<typeof runCaptured> => {
    const limit = AbortSignal.timeout(limitMs);
    return runCaptured(docker, args, { env, signal: signal ? AbortSignal.any([signal, limit]) : limit }).catch(
      (error: unknown) => {
        if (signal?.aborted) throw error;
        return { code: -1, stdout: "", output: "no answer in time" };
      },
    );
  };
  if ((await run(["info"], 10_000)).code !== 0) throw startError("no Docker engine answers");
  log(`Taking ${name} out of the container image ${source.image} (once)`);
  const created = await run(["create", source.image], 600_000);
  if (created.code !== 0) throw startError(`the container image ${source.image} could not be had`);
  const container = created.stdout.trim().split("\n").at(-1) ?? "";
  try {
    const copied = await run(["cp", `${container}:${source.imagePath}`, join(staged, name)], 120_000);
    if (copied.code !== 0) throw startError(`the container image ${source.image} has no ${source.imagePath}`);
  } finally {
    await run(["rm", container], 60_000);
  }
};
